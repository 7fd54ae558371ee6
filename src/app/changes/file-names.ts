import path from 'node:path'
import { readable } from '../../common/file-names.ts'
import { plainMessage } from '../../common/plain-message.ts'
import type { Workbench } from '../workbench.ts'

/** Paths relative to their workspace folder, which is named if there are several. Others are shown in full. */
export function namesOf({ folders }: Pick<Workbench, 'folders'>, paths: readonly string[]): string {
  const open = folders()
  const names = paths.map(one => {
    for (const folder of open) {
      const below = path.relative(folder.path, one)
      if (below === '' || below.startsWith('..') || path.isAbsolute(below)) continue
      return open.length > 1 ? path.join(folder.name, below) : below
    }
    return one
  })
  return plainMessage(readable(names.join(', ')))
}

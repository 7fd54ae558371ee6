import { access, constants, mkdir } from 'node:fs/promises'
import * as l10n from '@vscode/l10n'
import { messageOf } from '../common/errors.ts'
import { PRIVATE_FOLDER } from '../common/private-files.ts'
import type { AgentAccount } from './definition.ts'

/**
 * Creates the folder of an account. Resolves to the problem if the folder can't be used. Without the folder, the agent might use its
 * default folder, and so the wrong account.
 */
export async function prepareAccountFolder({ folder }: AgentAccount): Promise<string | undefined> {
  try {
    await mkdir(folder, { recursive: true, mode: PRIVATE_FOLDER })
    await access(folder, constants.R_OK | constants.W_OK | constants.X_OK)
    return undefined
  } catch (error) {
    const isFile = error instanceof Error && 'code' in error && error.code === 'EEXIST'
    return isFile ? l10n.t('{0} is not a folder', folder) : messageOf(error)
  }
}

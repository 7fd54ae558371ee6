/** The built services, which reach the editor as over a wire. */
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { createServices as create } from '../../../../src/services.ts'
import { copied, copiedWorkbench } from './copied.ts'
import { options } from './options.ts'

const built: { createServices: typeof create } = await import(
  pathToFileURL(join(options.extension, 'dist', 'services.js')).href
)

export const createServices: typeof create = given =>
  built.createServices({
    ...given,
    carryBack: services => copied(services),
    carry(platform) {
      const { documents, encodings, externalUrl, followFiles, nativeElicitation } = platform
      const { log, logs, ruleSettings, secretStore, selectedPython, signInTerminal, trash } = platform
      return {
        ...platform,
        ...copied({ documents, encodings, externalUrl, followFiles, nativeElicitation }),
        ...copied({ log, logs, ruleSettings, secretStore, selectedPython, signInTerminal, trash }),
        workbench: copiedWorkbench(platform.workbench),
      }
    },
  })

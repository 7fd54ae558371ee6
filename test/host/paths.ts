import { join, resolve } from 'node:path'

export const projectDirectory = resolve(import.meta.dirname, '../..')
export const testDirectory = join(projectDirectory, 'test')
/** The output of test runs: results, logs, screenshots, the compiled integration tests. */
export const outDirectory = join(projectDirectory, 'out')
/** The packaged extension from `npm run package`. */
export const vsixFile = join(outDirectory, 'parley.vsix')

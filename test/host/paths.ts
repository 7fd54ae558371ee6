import { homedir } from 'node:os'
import { join, resolve } from 'node:path'

export const projectDirectory = resolve(import.meta.dirname, '../..')
export const testDirectory = join(projectDirectory, 'test')
/** What test runs leave behind: results, logs, screenshots, the compiled integration suite. */
export const outDirectory = join(projectDirectory, 'out')
/** The packaged extension, as `npm run package` makes it. */
export const vsixFile = join(outDirectory, 'parley.vsix')
/** Where the VS Codes for the tests are kept. Outside the checkout, so that cleaning it costs no download. */
export const cacheDirectory = process.env.PARLEY_TEST_CACHE ?? join(homedir(), '.cache', 'parley-test-host')

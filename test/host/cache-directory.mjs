import { homedir } from 'node:os'
import { join } from 'node:path'

/**
 * The VS Code builds for the tests, and what the build takes long to create: outside of the checkout, so that cleaning it
 * doesn't delete them.
 */
export const cacheDirectory = process.env.PARLEY_TEST_CACHE ?? join(homedir(), '.cache', 'parley-test-host')

import { createHash } from 'node:crypto'
import { symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { buildOnce } from './build-once.ts'
import { cacheDirectory } from './cache-directory.mjs'
import type { InstalledVsCode } from './install-vscode.ts'

/** Git, the themes, the editors for images and settings, and the languages of the files that tests open. */
const kept = [
  ...['configuration-editing', 'git', 'git-base', 'media-preview', 'merge-conflict', 'search-result'],
  ...['terminal-suggest', 'theme-defaults', 'theme-modern-icons', 'theme-seti'],
  ...['css', 'diff', 'html', 'javascript', 'json', 'json-language-features', 'markdown-basics'],
  ...['markdown-language-features', 'python', 'shellscript', 'typescript-basics', 'xml', 'yaml'],
]

/**
 * A folder with those of VS Code's own extensions that tests of the workbench need. To read all of them, and to run the servers
 * for languages when a file is opened, takes a tenth to a quarter of a window's time.
 */
export async function fewBuiltInExtensions(vscode: InstalledVsCode): Promise<string> {
  const all = join(dirname(vscode.serverMain), '../extensions')
  const key = createHash('sha256')
    .update(JSON.stringify([all, kept]))
    .digest('hex')
    .slice(0, 12)
  const target = join(cacheDirectory, `extensions-${vscode.version.version}-${key}`)
  await buildOnce(target, async directory => {
    for (const name of ['package.json', ...kept]) symlinkSync(join(all, name), join(directory, name))
  })
  return target
}

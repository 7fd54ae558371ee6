// Creates the VSIX: tsx test/package/package.ts
import { mkdirSync, readFileSync, statSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { installVsCode } from '../host/install-vscode.ts'
import { outDirectory, projectDirectory, vsixFile } from '../host/paths.ts'
import { runCommand } from '../host/run-command.ts'
import { current } from '../host/vscode-versions.ts'
import { packTightly } from './pack-tightly.ts'
import { packOptions, type ReleaseManifest } from './release-rules.ts'

/**
 * The maximum size of the extension in bytes, so that it installs quickly. What opens a window or a page has limits of its own
 * (`weight.test.ts`).
 */
const limit = 2_750_000

const node = await nodeForVsce()
const env = { ...process.env, PATH: `${dirname(node)}${delimiter}${process.env.PATH}` }
mkdirSync(outDirectory, { recursive: true })
await runCommand(process.execPath, ['esbuild.mjs', '--production'], { cwd: projectDirectory })
const vsce = join(projectDirectory, 'node_modules/@vscode/vsce/vsce')
const manifest: ReleaseManifest = JSON.parse(readFileSync(join(projectDirectory, 'package.json'), 'utf8'))
const how = [...packOptions(manifest), '--out', vsixFile]
await runCommand(node, [vsce, 'package', ...how], { cwd: projectDirectory, env })

await packTightly(vsixFile)

const size = statSync(vsixFile).size
console.log(`${vsixFile}: ${Math.round(size / 1000)} kB`)
if (size > limit) throw new Error(`The package weighs ${size} bytes, more than ${limit}`)

/** vsce requires Node 22; if this one is older, the Node of the test VS Code is used. */
async function nodeForVsce(): Promise<string> {
  const major = Number(process.versions.node.split('.')[0])
  if (major >= 22) return process.execPath
  if (process.platform !== 'linux' || process.arch !== 'x64')
    throw new Error(`Packaging needs Node.js 22 or newer; this is ${process.version}.`)
  return (await installVsCode(current)).node
}

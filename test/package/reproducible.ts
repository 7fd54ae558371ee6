// Shows that the same commit becomes the same VSIX, byte by byte: npm run reproducible
// Builds what is committed twice, in two folders, the second time with another time zone and language, and without anything
// that an earlier build kept. Requires Node 22 or newer, and Linux.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { unzipSync } from 'fflate'
import { outDirectory, projectDirectory } from '../host/paths.ts'

const place = join(outDirectory, 'reproducible')
rmSync(place, { recursive: true, force: true })
const first = build('a', {})
const second = build('another folder/with a longer name', {
  TZ: 'Pacific/Kiritimati',
  LC_ALL: 'tr_TR.UTF-8',
  PARLEY_TEST_CACHE: join(place, 'empty'),
})
const [one, other] = [first, second].map(vsix => createHash('sha256').update(vsix).digest('hex'))
console.log(`${one}\n${other}`)
if (one !== other) {
  const [a, b] = [unzipSync(first), unzipSync(second)]
  const names = [...new Set([...Object.keys(a), ...Object.keys(b)])].sort()
  const differing = names.filter(name => !a[name] || !b[name] || !Buffer.from(a[name]).equals(b[name]))
  throw new Error(`Two builds of the same commit differ in ${differing.join(', ') || 'how they are packed'}`)
}
rmSync(place, { recursive: true })

function build(folder: string, env: NodeJS.ProcessEnv): Uint8Array {
  const directory = join(place, folder)
  mkdirSync(directory, { recursive: true })
  const source = execFileSync('git', ['archive', 'HEAD'], { cwd: projectDirectory, maxBuffer: 1 << 30 })
  execFileSync('tar', ['-x'], { cwd: directory, input: source })
  // as copies: what is behind a link would be the same folder in both
  execFileSync('cp', ['-al', join(projectDirectory, 'node_modules'), directory])
  execFileSync(process.execPath, ['node_modules/tsx/dist/cli.mjs', 'test/package/package.ts'], {
    cwd: directory,
    env: { ...process.env, ...env },
    stdio: 'inherit',
  })
  return readFileSync(join(directory, 'out/parley.vsix'))
}

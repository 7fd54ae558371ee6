// Checks and prepares a release, in the workflow of that name:
//   tsx test/package/release.ts check v1.2.3   fails, and says why, if that tag can't be released
//   tsx test/package/release.ts files          creates the files of the release in out/release/, from the package
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { unzipSync } from 'fflate'
import { outDirectory, projectDirectory, vsixFile } from '../host/paths.ts'
import {
  changelogSection,
  type ReleaseManifest,
  releaseNotes,
  releaseProblems,
  repositoryOf,
} from './release-rules.ts'

const read = (file: string) => readFileSync(join(projectDirectory, file), 'utf8')
const manifest: ReleaseManifest = JSON.parse(read('package.json'))
const [task, tag = ''] = process.argv.slice(2)
if (task === 'check') check()
else if (task === 'files') files()
else throw new Error(`There is no task ${task}`)

function check(): void {
  const problems = releaseProblems(manifest, read('CHANGELOG.md'), tag, process.env.GITHUB_REPOSITORY)
  for (const problem of problems) console.error(problem)
  if (problems.length > 0) process.exitCode = 1
  else console.log(`${manifest.publisher}.${manifest.name} ${manifest.version} can be released.`)
}

/** The VSIX, its bill of materials, the notes, and the checksums of the first two. */
function files(): void {
  const directory = join(outDirectory, 'release')
  rmSync(directory, { recursive: true, force: true })
  mkdirSync(directory, { recursive: true })
  const { name, version } = manifest
  const vsix = readFileSync(vsixFile)
  const assets = {
    [`${name}-${version}.vsix`]: vsix,
    [`${name}-${version}.cdx.json`]: unzipSync(vsix)['extension/dist/sbom.cdx.json']!,
  }
  for (const [file, bytes] of Object.entries(assets)) writeFileSync(join(directory, file), bytes)
  const sums = Object.entries(assets).map(
    ([file, bytes]) => `${createHash('sha256').update(bytes).digest('hex')}  ${file}\n`,
  )
  writeFileSync(join(directory, 'SHA256SUMS'), sums.join(''))
  const section = changelogSection(read('CHANGELOG.md'), version)
  const repository = repositoryOf(manifest)
  if (!section || !repository) throw new Error('Run the check first.')
  writeFileSync(join(directory, 'notes.md'), `${releaseNotes(section, repository, version)}\n`)
}

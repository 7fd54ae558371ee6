import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { projectDirectory } from '../../host/paths.ts'
import {
  changelogSection,
  isPreRelease,
  packOptions,
  type ReleaseManifest,
  releaseNotes,
  releaseProblems,
  repositoryOf,
} from '../../package/release-rules.ts'

const manifest: ReleaseManifest = {
  name: 'parley',
  publisher: 'someone',
  version: '1.2.3',
  repository: { type: 'git', url: 'https://github.com/someone/parley.git' },
  bugs: { url: 'https://github.com/someone/parley/issues' },
  homepage: 'https://github.com/someone/parley#readme',
}
const changelog =
  '# Changelog\n\n## 1.2.3 (2026-12-01)\n\n- [Help](media/help/help.md)\n\n## 1.2.2 (2026-11-01)\n\n- Old\n'

describe('a release', () => {
  it('is made of a tag, a version, a section of the changelog and a repository that agree', () => {
    assert.deepEqual(releaseProblems(manifest, changelog, 'v1.2.3', 'Someone/parley'), [])
  })

  for (const [what, change, tag, repository, problem] of [
    ['another version', {}, 'v1.2.4', 'someone/parley', /^The tag v1\.2\.4 isn't v1\.2\.3/],
    ['a suffix', { version: '1.2.3-beta' }, 'v1.2.3-beta', 'someone/parley', /isn't three numbers/],
    ['no section', { version: '1.2.9' }, 'v1.2.9', 'someone/parley', /CHANGELOG\.md has no section/],
    ['no repository', { repository: undefined }, 'v1.2.3', 'someone/parley', /names no "repository"/],
    ['another repository', {}, 'v1.2.3', 'fork/parley', /names the repository someone\/parley, but this/],
    ['no place for bugs', { bugs: undefined }, 'v1.2.3', 'someone/parley', /"bugs"/],
    ['no home page', { homepage: 'http://a.example' }, 'v1.2.3', 'someone/parley', /"homepage"/],
  ] as const)
    it(`is refused for ${what}, with the reason`, () => {
      const problems = releaseProblems(
        { ...manifest, ...change } as ReleaseManifest,
        changelog,
        tag,
        repository,
      )
      assert.ok(
        problems.some(text => problem.test(text)),
        problems.join('\n'),
      )
    })

  it('is refused while the changelog says unreleased', () => {
    const draft = changelog.replace('(2026-12-01)', '(unreleased)')
    assert.equal(changelogSection(draft, '1.2.3'), undefined)
    assert.equal(changelogSection(changelog, '1.2'), undefined)
  })

  it('has the section of its version as notes, with links to its files', () => {
    const section = changelogSection(changelog, '1.2.3')!
    assert.equal(section, '- [Help](media/help/help.md)')
    assert.equal(
      releaseNotes(`${section} and [a site](https://a.example)`, 'someone/parley', '1.2.3'),
      '- [Help](https://github.com/someone/parley/blob/v1.2.3/media/help/help.md) and [a site](https://a.example)',
    )
  })

  it('is a pre-release if its minor version is odd', () => {
    assert.deepEqual(['0.1.0', '0.2.9', '1.0.1', '1.11.0'].map(isPreRelease), [true, false, false, true])
    assert.ok(packOptions({ ...manifest, version: '1.3.0' }).includes('--pre-release'))
    assert.ok(!packOptions(manifest).includes('--pre-release'))
  })

  it("shows the README's pictures as they were at its tag, once there is a repository", () => {
    assert.deepEqual(packOptions(manifest), ['--no-dependencies', '--githubBranch', 'v1.2.3'])
    assert.ok(packOptions({ ...manifest, repository: undefined }).includes('--allow-missing-repository'))
    for (const url of ['https://example.com/a/b', 'https://github.com/a', 'git@github.com:a/b.git'])
      assert.equal(repositoryOf({ ...manifest, repository: { type: 'git', url } }), undefined, url)
  })
})

describe('the manifest', () => {
  const own = JSON.parse(readFileSync(join(projectDirectory, 'package.json'), 'utf8'))
  const texts = JSON.parse(readFileSync(join(projectDirectory, 'package.nls.json'), 'utf8'))

  it('has what the marketplace and Open VSX show', () => {
    assert.equal(own.license, 'MIT')
    assert.equal(own.pricing, 'Free')
    assert.match(own.galleryBanner.color, /^#[\da-f]{6}$/)
    assert.match(own.galleryBanner.theme, /^(dark|light)$/)
    assert.deepEqual(own.categories, ['AI', 'Chat'])
    assert.ok(own.keywords.length <= 30 && new Set(own.keywords).size === own.keywords.length)
    for (const word of own.keywords) assert.match(word, /^[a-z\d][a-z\d -]*$/)
    assert.ok(texts.displayName.length > 0 && texts.description.length <= 200)
  })

  it('has an icon of at least 128 pixels that is no SVG', () => {
    const icon = readFileSync(join(projectDirectory, own.icon))
    assert.equal(icon.toString('latin1', 1, 4), 'PNG')
    assert.ok(icon.readUInt32BE(16) >= 128 && icon.readUInt32BE(20) === icon.readUInt32BE(16))
  })
})

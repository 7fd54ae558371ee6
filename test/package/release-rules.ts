/** What must be so before a version is released, and what the release is made of. Without files and network. */

export interface ReleaseManifest {
  name: string
  publisher: string
  version: string
  repository?: { type: string; url: string }
  bugs?: { url: string }
  homepage?: string
}

/** `owner/name`, if the manifest names a repository on GitHub. */
export function repositoryOf(manifest: ReleaseManifest): string | undefined {
  const url = manifest.repository?.url ?? ''
  return /^(?:git\+)?https:\/\/github\.com\/([\w.-]+\/[\w.-]+?)(?:\.git)?$/.exec(url)?.[1]
}

/** A version with an odd minor number is a pre-release: the marketplace has no versions with a suffix. */
export function isPreRelease(version: string): boolean {
  return Number(version.split('.')[1]) % 2 === 1
}

/**
 * What `vsce package` gets. With a repository, relative links of the README become those of the version's tag, so that a
 * released page stays as it was.
 */
export function packOptions(manifest: ReleaseManifest): string[] {
  return [
    '--no-dependencies',
    ...(repositoryOf(manifest)
      ? ['--githubBranch', `v${manifest.version}`]
      : ['--allow-missing-repository', '--no-rewrite-relative-links']),
    ...(isPreRelease(manifest.version) ? ['--pre-release'] : []),
  ]
}

/** What the changelog says of a version, without its heading. undefined if it says nothing or is unreleased. */
export function changelogSection(changelog: string, version: string): string | undefined {
  const parts = changelog.split(/^(?=## )/m)
  const part = parts.find(text => text.startsWith(`## ${version} `) || text.startsWith(`## ${version}\n`))
  const [heading, ...rest] = part?.split('\n') ?? []
  const text = rest.join('\n').trim()
  return text === '' || /unreleased/i.test(heading!) ? undefined : text
}

/** The notes of a release: the links of the changelog are relative to the repository. */
export function releaseNotes(section: string, repository: string, version: string): string {
  return section.replace(
    /\]\((?!\w+:|#)([^)]+)\)/g,
    `](https://github.com/${repository}/blob/v${version}/$1)`,
  )
}

/**
 * Why a tag can't be released, in words for the maintainer.
 *
 * @param repository the repository that the release is made in, as `owner/name`
 */
export function releaseProblems(
  manifest: ReleaseManifest,
  changelog: string,
  tag: string,
  repository: string | undefined,
): string[] {
  const { version, bugs, homepage } = manifest
  const named = repositoryOf(manifest)
  const rules: Array<[boolean, string]> = [
    [
      /^\d+\.\d+\.\d+$/.test(version),
      `The version ${version} isn't three numbers, which the marketplace requires.`,
    ],
    [tag === `v${version}`, `The tag ${tag} isn't v${version}, the version in package.json.`],
    [
      changelogSection(changelog, version) !== undefined,
      `CHANGELOG.md has no section "## ${version} (<date>)", or it's still "unreleased".`,
    ],
    [
      named !== undefined,
      'package.json names no "repository" on GitHub. CONTRIBUTING.md says what the maintainer fills in.',
    ],
    [
      !named || named.toLowerCase() === repository?.toLowerCase(),
      `package.json names the repository ${named}, but this is ${repository}.`,
    ],
    [isHttps(bugs?.url), 'package.json has no https address in "bugs".'],
    [isHttps(homepage), 'package.json has no https address in "homepage".'],
  ]
  return rules.flatMap(([isKept, problem]) => (isKept ? [] : [problem]))
}

const isHttps = (url: string | undefined) => url?.startsWith('https://') ?? false

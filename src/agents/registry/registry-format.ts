import valid from 'semver/functions/valid.js'
import * as z from 'zod'
import { visibleProse } from '../../common/visible.ts'
import { isWindowsDevice } from '../../common/windows-names.ts'
import { isWebAddress } from './secure-fetch.ts'

/** A validated agent of the ACP registry. See the format: https://github.com/agentclientprotocol/registry/blob/main/FORMAT.md */
export interface RegistryAgent {
  /** The id, which is a valid name of a folder on every system. */
  id: string
  name: string
  version: string
  description: string
  repository?: string
  authors: string[]
  license?: string
  /** The `https:` or `data:` URL of an SVG; see `AgentIcons`. */
  icon?: string
  /** At least one distribution, in order of preference. */
  distributions: Distribution[]
}

export type Distribution = PackageDistribution | BinaryDistribution

/** A package that a package manager installs: npm for `npx`, uv for `uvx`. */
export interface PackageDistribution {
  type: 'npx' | 'uvx'
  /** The package's name with its version, in the package manager's syntax. */
  package: string
  args: string[]
  env: Record<string, string>
}

export interface BinaryDistribution {
  type: 'binary'
  targets: Partial<Record<PlatformTarget, BinaryTarget>>
}

export interface BinaryTarget {
  /** The URL of a zip, tar.gz, tgz or tar archive, or of the executable itself. */
  archive: string
  /** The program, relative to the archive's root. */
  cmd: string
  args: string[]
  env: Record<string, string>
  /** The archive's checksum, in lowercase hexadecimal digits. */
  sha256?: string
}

export type PlatformTarget = `${'darwin' | 'linux' | 'windows'}-${'aarch64' | 'x86_64'}`

export type ArchiveKind = 'zip' | 'tar' | 'executable'

/**
 * Extensions of archive formats that Parley can't unpack and no agent of the registry uses, and of installers, which the registry forbids.
 */
const UNSUPPORTED =
  /\.(?:dmg|pkg|mpkg|msi|msix|msixbundle|appx|appxbundle|appimage|deb|rpm|apk|snap|flatpak|run|iso|img|vhdx?|7z|rar|cab|cpio|ar|xz|txz|zst|tzst|lz|lzma|lz4|tlz|br|gz|bz2|tbz2?|z|jar|war|whl|vsix|nupkg|crx|asar|html?|json|txt|md|asc|sig|sha\d+)$/i

/** Returns the kind of a download according to its URL's extension; `undefined` if the download can't be used. */
export function archiveKind(address: string): ArchiveKind | undefined {
  const { pathname } = new URL(address)
  if (/\.zip$/i.test(pathname)) return 'zip'
  if (/\.(tar\.gz|tgz|tar)$/i.test(pathname)) return 'tar'
  return UNSUPPORTED.test(pathname) ? undefined : 'executable'
}

/** Returns the registry's name for this platform; `undefined` if the registry has none. */
export function platformTarget(platform: NodeJS.Platform, arch: string): PlatformTarget | undefined {
  const system = { darwin: 'darwin', linux: 'linux', win32: 'windows' }[platform as string]
  const processor = { arm64: 'aarch64', x64: 'x86_64' }[arch]
  return system && processor ? (`${system}-${processor}` as PlatformTarget) : undefined
}

/** The text isn't a registry. The message is a sentence for the log. */
export class RegistryFormatError extends Error {}

export interface Registry {
  agents: RegistryAgent[]
  /** The skipped entries with the reasons, for the log. */
  problems: string[]
}

/** The maximum number of agents that are read, which is far more than the registry has. */
const MAX_AGENTS = 2000
/** The maximum length of a problem, in characters. A problem may contain names from the registry. */
const MAX_PROBLEM = 500

const text = z.string().trim().min(1).max(4096)
/** Rejects Parley's variables, so that the registry can't read the user's environment. */
const word = z
  .string()
  .max(16_384)
  .refine(value => !value.includes('\0') && !value.includes('${'))
const args = z.array(word).max(256).default([])
const env = z
  .record(
    z
      .string()
      .regex(/^[a-z_]\w*$/i)
      .refine(name => !RUNTIME_VARIABLES.test(name), { error: 'this environment variable is not allowed' }),
    word,
  )
  .default({})
  .refine(values => Object.keys(values).length <= 256)

/**
 * The schema of an id. It's lowercase, as the format requires, because some file systems ignore case. It doesn't end with `.lock`, because
 * the lock file is next to the agent's folder.
 */
const id = z
  .string()
  .regex(/^[a-z0-9](?:[a-z0-9._-]{0,62}[a-z0-9])?$/)
  .refine(value => !isWindowsDevice(value) && !value.includes('..') && !value.endsWith('.lock'))
const version = z.string().regex(/^[0-9a-z](?:[0-9a-z.+_-]{0,62}[0-9a-z])?$/i)

/**
 * Environment variables that make programs run other code, or trust and contact other servers. No agent needs them from the registry,
 * because they configure the machine, not the agent. Names are compared regardless of case, as on Windows.
 */
const RUNTIME_VARIABLES = new RegExp(
  `^(?:${[
    // the loader and the C library
    'LD_.*|DYLD_.*|_RLD.*|GCONV_PATH|GLIBC_TUNABLES|MALLOC_.*|LOCPATH|NLSPATH|HOSTALIASES',
    // locations of programs and of users' files
    'PATH|PATHEXT|COMSPEC|SYSTEMROOT|SYSTEMDRIVE|WINDIR|PROGRAM(?:FILES|DATA|W6432)|ALLUSERSPROFILE|XDG_.*',
    'HOME|HOMEDRIVE|HOMEPATH|USERPROFILE|APPDATA|LOCALAPPDATA|CFFIXED_USER_HOME|TMPDIR|TMP|TEMP',
    // shells
    'ENV|BASH_.*|BASHOPTS|SHELLOPTS|SHELL|IFS|PS4|PROMPT_COMMAND|ZDOTDIR|FPATH|CDPATH|FISH_.*|PSMODULEPATH|INPUTRC|TERMINFO.*|TERMCAP',
    // interpreters
    'NODE_(?!(?:ENV|NO_WARNINGS)$).*|TSX_.*|COREPACK_.*|NVM_.*|VOLTA_.*|FNM_.*|MISE_.*|ASDF_.*|NIX_.*',
    'ELECTRON_.*|BUN_(?:OPTIONS|INSPECT.*)|DENO_.*|TS_NODE_.*|PYTHON.*|PERL.*|RUBY.*|GEM_.*|BUNDLE_.*|LUA_.*|PHP.*',
    '_?JAVA_.*|JDK_JAVA_OPTIONS|CLASSPATH|DOTNET_.*|CORECLR_.*|COR_.*|COMPLUS_.*|R_PROFILE.*|R_ENVIRON.*',
    'ERL_.*|JULIA_.*|TCLLIBPATH|AWK(?:LIB)?PATH|__PYVENV_LAUNCHER__|VIRTUAL_ENV|CONDA_.*|OBJC_.*|GTK_.*|GIO_.*|QT_.*',
    // options of any program, and programs that other programs run
    '.*_(?:OPTIONS|OPTS|RSH)|.*(?:EDITOR|PAGER|ASKPASS)|(?:MAKE|GO)FLAGS|GO(?:ENV|ROOT|PATH|PROXY|TOOLCHAIN)|CC|CXX',
    'VIMINIT|EXINIT|LESS|LESSKEY.*|PSQLRC|HG.*|SVN_.*|CVS_.*|RSYNC_.*|DOCKER_.*|KUBECONFIG|AWS_CONFIG_FILE|GNUPGHOME',
    // this editor
    'VSCODE_.*|PARLEY_.*',
    // package managers and tools that run commands from variables
    'NPM_CONFIG_.*|YARN_.*|PNPM_.*|UV_.*|PIP_.*|CARGO_.*|RUSTC.*|GIT_.*|SSH_.*|VISUAL|BROWSER|LESS(?:OPEN|CLOSE)',
    // servers and their certificates
    '(?:HTTPS?|ALL|NO|FTP)_PROXY|SSL_CERT_.*|SSLKEYLOGFILE|OPENSSL_.*|CURL_.*|REQUESTS_CA_BUNDLE|KRB5.*|LOCALDOMAIN',
  ].join('|')})$`,
  'i',
)

/** The schema of an npm package: only a name and a version, never an option, a URL or a path. */
const npmPackage = z.string().regex(/^(?:@[a-z0-9~][\w.~-]*\/)?[a-z0-9~][\w.~-]*(?:@[0-9a-z][\w.+-]*)?$/i)
const pythonPackage = z
  .string()
  .regex(/^[a-z0-9][\w.-]*(?:\[[a-z0-9][\w.,-]*\])?(?:(?:==|@)[0-9a-z][\w.+!-]*)?$/i)

const webAddress = z.string().max(4096).refine(isWebAddress)
const target = z.object({
  archive: webAddress.refine(value => URL.canParse(value) && archiveKind(value) !== undefined, {
    error: 'its format is not supported',
  }),
  cmd: word.min(1),
  args,
  env,
  sha256: z
    .string()
    .regex(/^[0-9a-f]{64}$/i)
    .transform(digits => digits.toLowerCase())
    .optional(),
})
const entry = z.object({
  id,
  // The name appears in questions and lists, so it must be plain text in one line.
  name: text.max(256).refine(value => visibleProse(value) === value && !/\s\s|[\t\n]/.test(value), {
    error: 'it has line breaks or invisible characters',
  }),
  version,
  description: z.string().trim().max(4096).default(''),
  repository: webAddress.optional().catch(undefined),
  authors: z.array(z.string().max(256)).max(64).default([]).catch([]),
  license: z.string().trim().max(256).optional().catch(undefined),
  icon: z
    .string()
    .max(65_536)
    .refine(value => isWebAddress(value) || value.startsWith('data:image/svg+xml'))
    .optional()
    .catch(undefined),
  distribution: z.object({ npx: z.unknown(), uvx: z.unknown(), binary: z.unknown() }).partial(),
})
const npx = z.object({ package: npmPackage, args, env })
const uvx = z.object({ package: pythonPackage, args, env })
const targets: readonly PlatformTarget[] = [
  'darwin-aarch64',
  'darwin-x86_64',
  'linux-aarch64',
  'linux-x86_64',
  'windows-aarch64',
  'windows-x86_64',
]

/**
 * Reads a registry entry by entry. An invalid entry is skipped, and the other entries are used. Unknown fields are ignored. Throws
 * {@link RegistryFormatError} if the value isn't a registry.
 */
export function readRegistry(json: unknown): Registry {
  const whole = z.object({ agents: z.array(z.unknown()) }).safeParse(json)
  if (!whole.success) throw new RegistryFormatError('It has no list of agents.')
  const agents = new Map<string, RegistryAgent>()
  const problems: string[] = []
  for (const [index, raw] of whole.data.agents.slice(0, MAX_AGENTS).entries()) {
    const read = readEntry(raw)
    if ('problem' in read) problems.push(`agents[${index}]: ${read.problem.slice(0, MAX_PROBLEM)}`)
    else if (agents.has(read.agent.id)) problems.push(`agents[${index}]: ${read.agent.id} is there twice`)
    else agents.set(read.agent.id, read.agent)
  }
  return { agents: [...agents.values()], problems }
}

function readEntry(raw: unknown): { agent: RegistryAgent } | { problem: string } {
  const checked = entry.safeParse(raw)
  if (!checked.success) return { problem: summary(checked.error) }
  const { distribution, ...about } = checked.data
  const distributions: Distribution[] = []
  const problems: string[] = []
  const read = <T>(name: string, schema: z.ZodType<T>, value: unknown): T | undefined => {
    if (value === undefined) return undefined
    const { data, error } = schema.safeParse(value)
    if (error) problems.push(`${name}: ${summary(error)}`)
    return data
  }
  const binary = read('binary', z.record(z.string(), z.unknown()), distribution.binary)
  if (binary) {
    const found: BinaryDistribution['targets'] = {}
    for (const name of targets) {
      const one = read(`binary.${name}`, target, binary[name])
      if (one) found[name] = one
    }
    if (Object.keys(found).length > 0) distributions.push({ type: 'binary', targets: found })
  }
  for (const [type, schema] of [
    ['npx', npx],
    ['uvx', uvx],
  ] as const) {
    const found = read(type, schema, distribution[type])
    if (!found) continue
    const pinned = pinnedPackage(type, found.package, about.version)
    if (pinned === undefined) problems.push(`${type}: package: it has no exact version`)
    else distributions.push({ type, ...found, package: pinned })
  }
  if (distributions.length === 0) {
    const why = problems.length > 0 ? problems.join('; ') : 'none is known'
    return { problem: `${about.id} has no distribution: ${why}` }
  }
  return { agent: { ...about, distributions } }
}

/** A version of a Python package: https://packaging.python.org/specifications/version-specifiers */
const PYTHON_VERSION =
  /^v?(?:\d+!)?\d+(?:\.\d+)*(?:[-_.]?(?:a|b|c|rc|alpha|beta|pre|preview)[-_.]?\d*)?(?:-\d+|[-_.]?(?:post|rev|r)[-_.]?\d*)?(?:[-_.]?dev[-_.]?\d*)?(?:\+[a-z\d]+(?:[-_.][a-z\d]+)*)?$/i

/**
 * Returns the package with an exact version, which comes from `spec` or from the registry entry; `undefined` if there is none. A tag such
 * as `latest` and a range such as `1` aren't exact, nor is an invalid version, which npm treats as a tag.
 */
function pinnedPackage(type: 'npx' | 'uvx', spec: string, ofEntry: string): string | undefined {
  const isExact = (one: string) => (type === 'npx' ? valid(one) !== null : PYTHON_VERSION.test(one))
  const [, name = spec, own = ''] = /^(.+?)(?:==|@)([^@/]*)$/.exec(spec) ?? []
  if (isExact(own)) return spec
  return isExact(ofEntry) ? `${name}${type === 'npx' ? '@' : '=='}${ofEntry}` : undefined
}

function summary(error: z.ZodError): string {
  const [issue] = error.issues
  return issue ? `${issue.path.join('.') || 'it'}: ${issue.message}` : error.message
}

import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import {
  type Environment,
  environmentLookUp,
  mergeEnvironment,
  pathDelimiter,
  removeVariable,
} from '../common/processes/spawn-process.ts'

/** Returns the environment with variables set or removed (`null`). On Windows, names are case-insensitive. */
export function withChanges(
  under: Readonly<Environment>,
  changes: Readonly<Record<string, string | null>>,
  platform: NodeJS.Platform,
): Environment {
  const remaining = { ...under }
  const set: Environment = {}
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) removeVariable(remaining, name, platform)
    else set[name] = value
  }
  return mergeEnvironment(remaining, set, platform)
}

/** VS Code's network settings (`http.*`). */
export interface NetworkSettings {
  proxy?: string
  noProxy?: readonly string[]
  strictSSL?: boolean
  /** Whether the system's certificates are trusted, in addition to those of Node.js. */
  systemCertificates?: boolean
}

/**
 * Returns the environment of a package manager, which can read VS Code's network settings only from variables. Variables that are already
 * set take precedence.
 */
export function withNetworkSettings(
  env: Readonly<Environment>,
  { proxy, noProxy = [], strictSSL, systemCertificates }: NetworkSettings,
): Environment {
  const names = new Set(Object.keys(env).map(name => name.toUpperCase()))
  const own: Environment = {}
  if (proxy && !['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY'].some(name => names.has(name))) {
    own.HTTP_PROXY = proxy
    own.HTTPS_PROXY = proxy
    if (noProxy.length > 0 && !names.has('NO_PROXY')) own.NO_PROXY = noProxy.join(',')
  }
  if (strictSSL === false && !names.has('NPM_CONFIG_STRICT_SSL')) own.npm_config_strict_ssl = 'false'
  if (systemCertificates) {
    // Older versions of Node and uv ignore these variables.
    if (!names.has('NODE_USE_SYSTEM_CA')) own.NODE_USE_SYSTEM_CA = '1'
    if (!names.has('UV_NATIVE_TLS')) own.UV_NATIVE_TLS = 'true'
  }
  return { ...env, ...own }
}

/** Returns the directories of several PATHs as one PATH, in order, without duplicates and empty directories. */
export function joinPaths(paths: readonly string[], platform: NodeJS.Platform): string {
  const separator = pathDelimiter(platform)
  const directories = paths.flatMap(path => path.split(separator)).filter(directory => directory !== '')
  return [...new Set(directories)].join(separator)
}

/**
 * The names of variables that are removed because they are about other processes. `CHROME_DESKTOP` and `ORIGINAL_XDG_CURRENT_DESKTOP` come
 * from Chromium, the `APPLICATION_INSIGHTS_…` pair from the extension host, and `NODE_CHANNEL_…` from its fork. `PWD`, `OLDPWD`, `SHLVL`
 * and `_` describe another process's directory and shell.
 */
const editorNames = new Set([
  'APPLICATION_INSIGHTS_NO_DIAGNOSTIC_CHANNEL',
  'APPLICATION_INSIGHTS_NO_STATSBEAT',
  'CHROME_DESKTOP',
  'NODE_CHANNEL_FD',
  'NODE_CHANNEL_SERIALIZATION_MODE',
  'ORIGINAL_XDG_CURRENT_DESKTOP',
  'OLDPWD',
  'PWD',
  'SHLVL',
  '_',
])
const editorPrefixes = ['VSCODE_', 'CODE_SERVER_', 'ELECTRON_']
/** Variables that users set to install packages. The editor doesn't set them, so they are kept. */
const electronOfPackages =
  /^ELECTRON_(MIRROR|CUSTOM_|NIGHTLY_MIRROR|CACHE|SKIP_BINARY_DOWNLOAD|BUILDER_|GET_)/

/**
 * Returns the environment without the variables that VS Code, code-server and Electron set for themselves, so that an agent has the same
 * environment as in the user's terminal. `ELECTRON_RUN_AS_NODE` would make an Electron program that the agent starts run as Node. A
 * debugger's preload in `NODE_OPTIONS` would stop the agent. Helpers that connect to this window through a removed variable (`GIT_ASKPASS`,
 * `BROWSER`) would fail. Variables that the user set are kept.
 */
export function withoutEditorVariables(
  env: Readonly<Record<string, string | undefined>>,
  platform: NodeJS.Platform,
): Environment {
  const result: Environment = {}
  const snapped = env.SNAP !== undefined
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined) continue
    const key = platform === 'win32' ? name.toUpperCase() : name
    if (editorNames.has(key)) continue
    if (snapped && /^(?:SNAP$|SNAP_|GDK_PIXBUF_)/.test(key)) continue
    if (editorPrefixes.some(prefix => key.startsWith(prefix)) && !electronOfPackages.test(key)) continue
    if (key === 'NODE_OPTIONS') {
      const options = withoutDebuggerPreload(value)
      if (options !== '') result[name] = options
      continue
    }
    if (key === 'PATH') {
      result[name] = withoutEditorCommands(value, platform)
      continue
    }
    if (key === 'TERM_PROGRAM' && value === 'vscode') continue
    if (key === 'TERM_PROGRAM_VERSION' && environmentLookUp(env, 'TERM_PROGRAM', platform) === 'vscode')
      continue
    if ((key === 'GIT_ASKPASS' || key === 'SSH_ASKPASS') && isEditorAskpass(value)) continue
    if (key === 'BROWSER' && isEditorBrowser(value)) continue
    result[name] = value
  }
  return restoreFromSnap(result, env)
}

/** Removes the `bootloader.js` that js-debug's auto attach preloads into every Node process. Other options are the user's own. */
function withoutDebuggerPreload(options: string): string {
  return options
    .replace(/(?:--require|-r|--import)[ =](?:"[^"]*"|(?:\\ |\S)*)/g, option =>
      /bootloader\.(?:js|bundle\.js)|js-debug/.test(option) ? '' : option,
    )
    .replace(/\s+/g, ' ')
    .trim()
}

/** Removes the directory of a server's own `code` command, which connects to this window through a removed variable. */
function withoutEditorCommands(path: string, platform: NodeJS.Platform): string {
  const separator = pathDelimiter(platform)
  return path
    .split(separator)
    .filter(directory => !/[\\/]bin[\\/]remote-cli$/.test(directory))
    .join(separator)
}

function isEditorAskpass(value: string): boolean {
  return /[\\/]extensions[\\/]git[\\/]dist[\\/](?:ssh-)?askpass/.test(value)
}

function isEditorBrowser(value: string): boolean {
  return /[\\/]bin[\\/]helpers[\\/]browser(?:-linux|-darwin)?\.(?:sh|cmd)$/.test(value)
}

/**
 * The suffix of variables in which VS Code's snap keeps the original values. An empty original value means that the variable wasn't set.
 */
const snapOriginal = '_VSCODE_SNAP_ORIG'
function restoreFromSnap(
  result: Environment,
  env: Readonly<Record<string, string | undefined>>,
): Environment {
  for (const [name, value] of Object.entries(env)) {
    if (!name.endsWith(snapOriginal) || value === undefined) continue
    const original = name.slice(0, -snapOriginal.length)
    delete result[name]
    if (value === '') delete result[original]
    else result[original] = value
  }
  return result
}

/** Common directories of a user's own programs, in the order in which they are searched. `~` is the home directory. */
const unixDirectories = [
  '~/.local/bin',
  '~/bin',
  '~/.volta/bin',
  '~/.local/share/fnm/aliases/default/bin',
  '~/Library/Application Support/fnm/aliases/default/bin',
  '~/.local/share/mise/shims',
  '~/.asdf/shims',
  '~/.npm-global/bin',
  '~/.local/share/pnpm',
  '~/Library/pnpm',
  '~/.bun/bin',
  '~/.deno/bin',
  '~/.cargo/bin',
  '~/.opencode/bin',
  '/opt/homebrew/bin',
  '/home/linuxbrew/.linuxbrew/bin',
  '/usr/local/bin',
  '/usr/bin',
  '/bin',
  '/snap/bin',
]

/**
 * Resolves to the existing directories among {@link unixDirectories}, with nvm's newest Node. They complete the PATH if the login shell
 * fails. Windows needs none, because every process gets the user's PATH there.
 */
export async function commonBinDirectories(home: string, platform: NodeJS.Platform): Promise<string[]> {
  if (platform === 'win32') return []
  const candidates = unixDirectories.map(directory => directory.replace(/^~/, home))
  const node = await newestNvmNode(join(home, '.nvm/versions/node'))
  if (node !== undefined) candidates.unshift(join(node, 'bin'))
  const exist = await Promise.all(candidates.map(isDirectory))
  return candidates.filter((_, at) => exist[at])
}

async function newestNvmNode(directory: string): Promise<string | undefined> {
  let names: string[]
  try {
    names = await readdir(directory)
  } catch {
    return undefined
  }
  const versions = names
    .map(name => ({ name, match: /^v(\d+)\.(\d+)\.(\d+)$/.exec(name) }))
    .filter(version => version.match !== null)
    .sort((a, b) => {
      for (let part = 1; part <= 3; part++) {
        const difference = Number(b.match?.[part]) - Number(a.match?.[part])
        if (difference !== 0) return difference
      }
      return 0
    })
  return versions[0] && join(directory, versions[0].name)
}

export async function isDirectory(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory()
  } catch {
    return false
  }
}

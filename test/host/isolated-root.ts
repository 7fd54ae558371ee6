import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { atExit } from './at-exit.ts'

/** Settings that keep the workbench quiet, offline and reproducible. */
const quietSettings = {
  'telemetry.telemetryLevel': 'off',
  'workbench.startupEditor': 'none',
  'workbench.tips.enabled': false,
  'workbench.welcomePage.walkthroughs.openOnInstall': false,
  'workbench.enableExperiments': false,
  'workbench.settings.enableNaturalLanguageSearch': false,
  'workbench.secondarySideBar.defaultVisibility': 'hidden',
  'chat.disableAIFeatures': true,
  'extensions.autoUpdate': false,
  'extensions.autoCheckUpdates': false,
  'extensions.ignoreRecommendations': true,
  'update.mode': 'none',
  'git.autofetch': false,
  'git.openRepositoryInParentFolders': 'never',
  'window.autoDetectColorScheme': false,
  'files.hotExit': 'off',
  // fetches nothing when a JavaScript file is opened
  'typescript.disableAutomaticTypeAcquisition': true,
  'js/ts.tsserver.automaticTypeAcquisition.enabled': false,
  'npm.autoDetect': 'off',
  // what is rendered continuously, and what starts without being tested
  'editor.minimap.enabled': false,
  'editor.cursorBlinking': 'solid',
  'terminal.integrated.gpuAcceleration': 'off',
  'terminal.integrated.enablePersistentSessions': false,
  'extensions.webWorker': false,
  // a page takes the focus when it loads, which would close a quick pick
  'workbench.quickOpen.closeOnFocusLost': false,
  // agents end with their window, unless a test is about those that don't
  'parley.keepAgentsRunning': 'off',
  // On the web the default is afterDelay; this is the desktop's default.
  'files.autoSave': 'off',
}

/** Marks every process that a run starts, directly or indirectly. */
export const rootVariable = 'PARLEY_TEST_ROOT'

/** Variables that would affect a run with an outer VS Code, npm or the user's own configuration. */
const foreignVariables =
  /^(VSCODE_|CODE_SERVER_|CS_|ELECTRON_|npm_|PASSWORD$|HASHED_PASSWORD$|PORT$|NODE_OPTIONS$)/

/**
 * A separate directory for one run: home, user data, extensions, temporary files and a copy of a workspace.
 * The user's own configuration is neither read nor changed.
 */
export class IsolatedRoot {
  readonly directory: string
  readonly userData: string
  readonly extensions: string
  readonly home: string
  readonly #temporary: string
  #settings: Record<string, unknown> = {}
  readonly #forget = atExit(() => this.remove())

  /** `extensions`: a folder of installed extensions, shared with other roots. Default: an empty one in this root. */
  constructor({ extensions }: { extensions?: string } = {}) {
    // Short, because it contains VS Code's Unix sockets, whose paths can have at most 107 bytes.
    this.directory = mkdtempSync(join(tmpdir(), 'parley-'))
    this.userData = join(this.directory, 'user-data')
    this.extensions = extensions ?? join(this.directory, 'extensions')
    this.home = join(this.directory, 'home')
    this.#temporary = join(this.directory, 't')
    this.#makeFolders()
  }

  #makeFolders(): void {
    for (const directory of [
      join(this.userData, 'User'),
      join(this.userData, 'Machine'),
      this.extensions,
      this.home,
      this.#temporary,
    ])
      mkdirSync(directory, { recursive: true })
    this.#settings = { ...quietSettings }
    this.updateSettings({})
  }

  /** Removes what windows, agents and tests left, while a server without windows goes on in it. */
  reset(): void {
    const { directory, userData, extensions } = this
    for (const path of [
      ...pathsIn(directory).filter(path => path !== userData && path !== extensions),
      // what VS Code cached of its extensions doesn't depend on windows
      ...['User', 'Machine'].map(name => join(userData, name)),
      // the server writes the others
      ...pathsIn(join(userData, 'logs'))
        .flatMap(pathsIn)
        .filter(path => /exthost\d+$/.test(path)),
    ])
      remove(path)
    this.#makeFolders()
  }

  /**
   * Changes settings; undefined removes one. A window uses them when it's opened or reloaded.
   * For a window on a server, machine settings are read from the server's own settings file.
   */
  updateSettings(changes: Record<string, unknown>): void {
    Object.assign(this.#settings, changes)
    const machine = Object.entries(this.#settings).filter(([name]) => /^(parley|http)\./.test(name))
    this.#writeSettings('User', this.#settings)
    this.#writeSettings('Machine', Object.fromEntries(machine))
  }

  #writeSettings(directory: string, settings: Record<string, unknown>): void {
    writeFileSync(join(this.userData, directory, 'settings.json'), JSON.stringify(settings, null, 2))
  }

  /** Copies the folder that contains the `.code-workspace` file, and returns the copy of that file. */
  copyWorkspace(workspaceFile: string): string {
    const copy = join(this.directory, 'workspace')
    cpSync(dirname(workspaceFile), copy, { recursive: true })
    return join(copy, basename(workspaceFile))
  }

  /** The environment of every process in this root. */
  environment(extra: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
    const kept = Object.entries(process.env).filter(([name]) => !foreignVariables.test(name))
    return {
      ...Object.fromEntries(kept),
      HOME: this.home,
      XDG_CONFIG_HOME: join(this.home, '.config'),
      XDG_DATA_HOME: join(this.home, '.local/share'),
      XDG_CACHE_HOME: join(this.home, '.cache'),
      XDG_STATE_HOME: join(this.home, '.local/state'),
      TMPDIR: this.#temporary,
      // No extension gallery, so that nothing is requested from the network.
      EXTENSIONS_GALLERY: '{}',
      [rootVariable]: this.directory,
      ...extra,
    }
  }

  /** The text of a file below the root. */
  read(path: string): string {
    return readFileSync(join(this.directory, path), 'utf8')
  }

  /** Copies what the fixture agents received, and what the extension logged, to a folder. */
  copyLogs(to: string): void {
    try {
      const names = readdirSync(this.directory, { encoding: 'utf8', recursive: true })
      for (const name of names.filter(one => /^[^/]+\.log$|\/parley\.parley\/[^/]+\.log$/.test(one)))
        cpSync(join(this.directory, name), join(to, name.replaceAll('/', '-')))
    } catch {
      // something was removed meanwhile
    }
  }

  remove(): void {
    this.#forget()
    remove(this.directory)
  }
}

function remove(path: string): void {
  rmSync(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 })
}

function pathsIn(directory: string): string[] {
  return readdirSync(directory).map(name => join(directory, name))
}

import { join } from 'node:path'

/** One VS Code that the tests run in. */
export interface VsCodeVersion {
  name: 'current' | 'floor'
  version: string
  /** Holds the package.json and the lock file of what is installed for it. */
  toolsDirectory: string
  /** Native modules of VS Code that come as source and that the workbench needs, below its node_modules. */
  nativeModules: string[]
}

const tools = join(import.meta.dirname, 'tools')

/** What most people have. */
export const current: VsCodeVersion = {
  name: 'current',
  version: '1.139.1',
  toolsDirectory: join(tools, 'current'),
  nativeModules: ['@vscode/spdlog', '@vscode/native-watchdog'],
}

/** The lowest version that `engines.vscode` allows. */
export const floor: VsCodeVersion = {
  name: 'floor',
  version: '1.103.2',
  toolsDirectory: join(tools, 'floor'),
  nativeModules: ['@vscode/spdlog', 'native-watchdog', 'node-pty'],
}

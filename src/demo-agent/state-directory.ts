import os from 'node:os'
import path from 'node:path'

/** Where sessions outlive the process: `PARLEY_DEMO_STATE`, or the place the operating system has for such things. */
export function stateDirectory(env: NodeJS.ProcessEnv, platform: NodeJS.Platform): string {
  if (env.PARLEY_DEMO_STATE) return path.resolve(env.PARLEY_DEMO_STATE)
  const home = os.homedir()
  if (platform === 'win32') {
    return path.join(env.LOCALAPPDATA || path.join(home, 'AppData', 'Local'), 'parley-demo-agent')
  }
  if (platform === 'darwin') return path.join(home, 'Library', 'Application Support', 'parley-demo-agent')
  return path.join(env.XDG_STATE_HOME || path.join(home, '.local', 'state'), 'parley-demo-agent')
}

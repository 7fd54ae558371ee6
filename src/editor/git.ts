import { spawn } from 'node:child_process'

export interface GitOptions {
  /** Ended after so long, in milliseconds. */
  timeoutMs: number
  /** Ended once it printed more, in UTF-16 units. */
  most: number
  input?: string
}

export interface GitOutput {
  text: string
  /** There was more than was asked for. */
  cut: boolean
}

/**
 * What a git command prints; `undefined` when it fails. It takes no locks that others would have to wait for, and no
 * monitor that the repository's configuration names is run for it.
 */
export function runGit(
  cwd: string,
  args: readonly string[],
  options: GitOptions,
): Promise<GitOutput | undefined> {
  return new Promise(resolve => {
    const git = spawn('git', ['-c', 'core.fsmonitor=false', ...args], {
      cwd,
      stdio: ['pipe', 'pipe', 'ignore'],
      timeout: options.timeoutMs,
      env: { ...process.env, GIT_OPTIONAL_LOCKS: '0' },
    })
    let text = ''
    let cut = false
    git.stdout.setEncoding('utf8')
    git.stdout.on('data', (chunk: string) => {
      text += chunk
      if (text.length <= options.most || cut) return
      cut = true
      git.kill()
    })
    git.stdin.on('error', () => {})
    git.stdin.end(options.input ?? '')
    git.on('error', () => resolve(undefined))
    git.on('close', code => resolve(code === 0 || cut ? { text, cut } : undefined))
  })
}

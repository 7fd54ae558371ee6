import { runGit } from '../git.ts'

/** A longer diff is cut, and says so. UTF-16 units. */
const MOST = 400_000
const TIMEOUT_MS = 20_000

/** What changed in the repositories of the folders, as one diff; empty when nothing did. */
export async function gitChanges(folders: readonly string[], staged: boolean): Promise<string> {
  const tops = await Promise.all(folders.map(folder => run(folder, ['rev-parse', '--show-toplevel'])))
  const repositories = [...new Set(tops.flatMap(top => top?.trim() || []))]
  const diffs = await Promise.all(
    repositories.map(async top => {
      const args = ['diff', '--no-color', '--ignore-submodules=dirty']
      const text = (await run(top, [...args, ...(staged ? ['--cached'] : [])])) ?? ''
      return repositories.length > 1 && text !== '' ? `# ${top}\n${text}` : text
    }),
  )
  const whole = diffs.filter(text => text !== '').join('\n')
  return whole.length > MOST ? `${whole.slice(0, MOST)}\n[… the rest of the diff is left out]` : whole
}

/** What a git command prints; `undefined` when it fails. */
async function run(cwd: string, args: string[]): Promise<string | undefined> {
  return (await runGit(cwd, args, { timeoutMs: TIMEOUT_MS, most: MOST }))?.text
}

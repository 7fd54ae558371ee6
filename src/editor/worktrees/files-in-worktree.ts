import { realpath } from 'node:fs/promises'
import { PathRules } from '../path-rules.ts'
import { linkedWorktrees } from './linked-worktrees.ts'

const rules = new PathRules()

/**
 * Resolves to a function that returns the path at which a session in `cwd` finds a file of the workspace's folders: the path in its
 * worktree, for folders of the same repository. Other files keep their paths.
 */
export async function filesInWorktree(
  cwd: string,
  folders: readonly string[],
): Promise<(file: string) => string> {
  const moves: Array<{ from: string; to: string }> = []
  const work = await real(cwd)
  for (const folder of folders) {
    const here = await real(folder)
    const linked = await linkedWorktrees(here).catch(() => undefined)
    const tops = linked ? [linked.main, ...linked.worktrees.map(one => one.path)] : []
    const [from, to] = [innermost(tops, here), innermost(tops, work)]
    if (from !== undefined && to !== undefined && from !== to)
      moves.push({ from: folder, to: rules.join(to, rules.relative(from, here)) })
  }
  return file => {
    const inner = innermost(
      moves.map(({ from }) => from),
      file,
    )
    const move = moves.find(({ from, to }) => from === inner && !rules.contains(to, file))
    return move ? rules.join(move.to, rules.relative(move.from, file)) : file
  }
}

function innermost(folders: readonly string[], file: string): string | undefined {
  return folders.filter(folder => rules.contains(folder, file)).sort((a, b) => b.length - a.length)[0]
}

function real(folder: string): Promise<string> {
  return realpath(folder).catch(() => folder)
}

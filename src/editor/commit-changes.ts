import { GIT_MS } from '../common/limits.ts'
import { fenced } from '../conversation/markdown.ts'
import { runGit } from './git.ts'

/** Maximum length of a diff; a longer diff is truncated, and the list of files shows what is missing. UTF-16 units. */
const MAX_DIFF = 100_000
const MAX_LIST = 20_000
const RECENT_COMMITS = 10

export interface CommitChanges {
  diff: string
  /** The list of files with their numbers of changed lines, if the diff is truncated. */
  files?: string
  /** Paths of untracked files; present if nothing is staged, so that all changes of the work tree are included. */
  newFiles?: string[]
  /** The first lines of the latest commits, newest first, as examples of the style. */
  subjects: string[]
}

/**
 * Resolves to the staged changes of a repository, or to all changes if nothing is staged. For untracked files, only the paths are included:
 * the user hasn't chosen to commit their content. Resolves to `undefined` if there are no changes, or Git fails.
 */
export async function commitChanges(repository: string): Promise<CommitChanges | undefined> {
  const run = (most: number, ...args: string[]) => runGit(repository, args, { timeoutMs: GIT_MS, most })
  const diff = (...args: string[]) => ['diff', '--no-color', '--ignore-submodules=dirty', ...args]
  const [staged, log] = await Promise.all([
    run(MAX_DIFF, ...diff('--cached')),
    // Git fails if there is no commit yet
    run(MAX_LIST, 'log', '--no-color', `--max-count=${RECENT_COMMITS}`, '--format=%s'),
  ])
  if (!staged) return undefined
  const subjects = log ? log.text.split('\n').filter(line => line !== '') : []
  const isStaged = staged.text !== ''
  const [shown, others] = isStaged
    ? [staged, undefined]
    : await Promise.all([
        run(MAX_DIFF, ...diff()),
        run(MAX_LIST, 'ls-files', '--others', '--exclude-standard', '-z'),
      ])
  const newFiles = others?.text.split('\0').slice(0, -1) ?? []
  if (!shown || (shown.text === '' && newFiles.length === 0)) return undefined
  const changes = { subjects, ...(!isStaged && { newFiles }) }
  if (!shown.cut) return { diff: shown.text, ...changes }
  const list = await run(MAX_LIST, ...diff(...(isStaged ? ['--cached'] : []), '--stat=120'))
  return { diff: shown.text.slice(0, MAX_DIFF), files: list?.text.slice(0, MAX_LIST) ?? '', ...changes }
}

/** Returns the prompt for a commit message. `begun`: the beginning that the user has already written. */
export function commitMessagePrompt(
  { diff, files, newFiles, subjects }: CommitChanges,
  begun: string,
): string {
  const parts = [
    `Write the message of a Git commit for the changes below. Answer with the message alone: no explanation, \
no quotation marks, no code fence. Use no tools. The first line is at most 72 characters long and says what the commit \
does. Only if there is more to say, add an empty line and a short body that says what changed and why.`,
  ]
  if (subjects.length > 0)
    parts.push(`Write in the style and language of the latest commits:\n${fenced(subjects.join('\n'))}`)
  if (begun !== '') parts.push(`The user has begun to write this; keep what it says:\n${fenced(begun)}`)
  if (files !== undefined) parts.push(`The diff is too long and is cut. All changed files:\n${fenced(files)}`)
  if (newFiles && newFiles.length > 0) parts.push(`New files:\n${fenced(newFiles.join('\n'))}`)
  if (diff !== '') parts.push(`The ${newFiles ? '' : 'staged '}changes:\n${fenced(diff)}`)
  return parts.join('\n\n')
}

/** Returns the message in an agent's answer, which may be in a code fence although the prompt forbids it. */
export function commitMessageIn(answer: string): string {
  const text = answer.replaceAll('\r\n', '\n').trim()
  const only = /^(`{3,}|~{3,})[^\n]*\n(.*)\n\1$/s.exec(text)
  return (only?.[2] ?? text).trim()
}

import type { AvailableCommand } from '@agentclientprotocol/sdk'
import type { Turn } from '../turn.ts'
import { delegate } from './delegate.ts'
import { ask, visit } from './elicitation.ts'
import { edit, read } from './files.ts'
import { media } from './media.ts'
import { run } from './run.ts'
import { compact, fail, long, markdown, notice, plan, slow, stop, think, where } from './talk.ts'
import { tour } from './tour.ts'

/** Plays the answer to a prompt. `input`: the text after the command. */
export type Scene = (turn: Turn, input: string) => Promise<void>

interface SceneCommand {
  name: string
  description: string
  hint?: string
  scene: Scene
}

const SCENES: readonly SceneCommand[] = [
  { name: 'help', description: 'What the demo agent can do', scene: help },
  { name: 'tour', description: 'A whole turn: read, plan, edit, run', scene: tour },
  { name: 'plan', description: 'A plan that makes progress', hint: 'what to plan', scene: plan },
  { name: 'read', description: 'Read a file', hint: 'path', scene: read },
  { name: 'edit', description: 'Propose a small edit and ask before writing it', hint: 'path', scene: edit },
  { name: 'run', description: 'Run a command in a terminal', hint: 'command line', scene: run },
  { name: 'fail', description: 'A tool call that fails', scene: fail },
  { name: 'slow', description: 'Slow work that can be canceled', hint: 'seconds', scene: slow },
  { name: 'think', description: 'Thoughts between parts of an answer', scene: think },
  { name: 'long', description: 'A long answer', hint: 'number of paragraphs', scene: long },
  {
    name: 'markdown',
    description: 'All elements of Markdown: code, tables, formulas, diagrams',
    scene: markdown,
  },
  { name: 'media', description: 'An image, a sound and resources', scene: media },
  { name: 'delegate', description: 'Two subagents that work at the same time', scene: delegate },
  { name: 'where', description: 'The folders and MCP servers of this session', scene: where },
  { name: 'ask', description: 'Ask you something with a form', scene: ask },
  { name: 'visit', description: 'Ask you to open a URL', scene: visit },
  { name: 'notice', description: 'Notices of every severity', scene: notice },
  { name: 'compact', description: 'Compact the context', scene: compact },
  {
    name: 'stop',
    description: 'End the turn for a reason of your choice',
    hint: 'max_tokens, refusal, …',
    scene: stop,
  },
]

export const COMMANDS: AvailableCommand[] = SCENES.map(({ name, description, hint }) => ({
  name,
  description,
  ...(hint === undefined ? {} : { input: { hint } }),
}))

/**
 * Returns the scene for a prompt's text: the scene of its slash command, the help if the text is a greeting or asks for help, else the
 * tour.
 */
export function sceneFor(text: string): { scene: Scene; input: string } {
  if (/^Write the message of a Git commit\b/.test(text)) return { scene: commitMessage, input: text }
  const slash = /^\s*\/([a-z]+)(?:\s+([\s\S]*))?$/.exec(text)
  if (slash) {
    const found = SCENES.find(candidate => candidate.name === slash[1])
    if (found) return { scene: found.scene, input: (slash[2] ?? '').trim() }
    return { scene: turn => unknown(turn, slash[1] ?? ''), input: '' }
  }
  const input = text.trim()
  return { scene: /^((help|what can you do)\b|(hi|hello|hey)\b[\s!.]*$)/i.test(input) ? help : tour, input }
}

async function help(turn: Turn): Promise<void> {
  const rows = SCENES.map(
    ({ name, description, hint }) => `| \`/${name}${hint ? ` ${hint}` : ''}\` | ${description} |`,
  )
  await turn.say(
    [
      "I'm the **demo agent**: a script that needs no model, account or network. These are my commands:",
      '',
      '| Command | What it shows |',
      '| --- | --- |',
      ...rows,
      '',
      'Any other prompt starts the tour. The *mode* determines when I ask for permission, the *model* how fast I respond.',
      '',
      "You can also attach files and images, send prompts while I'm working (`/slow`), see a session's usage and cost, fork it, " +
        'and load it again later.',
    ].join('\n'),
  )
}

/** Answers *Generate Commit Message*, only with the message. */
async function commitMessage(turn: Turn, input: string): Promise<void> {
  const [first, ...others] = [...input.matchAll(/^diff --git a\/.+ b\/(.+)$/gm)].map(([, name]) => name)
  const more = others.length === 1 ? ' and another file' : ` and ${others.length} other files`
  await turn.say(`Update ${first ?? 'files'}${others.length > 0 ? more : ''}`)
}

async function unknown(turn: Turn, name: string): Promise<void> {
  await turn.say(`I don't know the command \`/${name}\`. Type \`/help\` to list the commands I know.`)
}

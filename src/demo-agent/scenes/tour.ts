import path from 'node:path'
import type { ContentBlock } from '@agentclientprotocol/sdk'
import type { Turn } from '../turn.ts'
import { shortName, subjectFile } from '../workspace.ts'
import { afterEdit, describe, editFile, readFile } from './files.ts'
import { afterRun, lookAround } from './run.ts'

/** `/tour`, also the answer to any other prompt: reads a real file, makes a small real edit, and runs a harmless command. */
export async function tour(turn: Turn, input: string): Promise<void> {
  await turn.think(
    "I'm a script, not a model, so I can't understand the question. " +
      'What I can do is show every step of a turn: read, plan, edit, run. ' +
      'First I need a file.',
  )
  await turn.say(
    "I'm the **demo agent**: a script that shows what it's like to work with an agent. You don't need an account. " +
      'Everything I do in your folder is real, but I ask before I change anything.\n\n',
  )
  const attached = attachments(turn.prompt)
  if (attached) await turn.say(attached)

  await turn.plan(['Read a file', 'Propose a small edit', 'Run a harmless command', 'Summarize'])
  await turn.step(0)
  const file = await subjectFile(turn, input)
  const seen = file ? await readFile(turn, file) : undefined
  await turn.say(
    seen ? describe(turn, seen) : "There's no text file here yet, so I'll propose a new one.\n\n",
  )

  if (turn.session.settings.mode === 'plan') {
    return turn.say("I'm in *Plan* mode, so I stop here. Switch the mode to have the plan carried out.")
  }
  await turn.step(1)
  const target = seen?.file ?? path.join(turn.session.cwd, 'parley-demo.md')
  await turn.think(
    `A comment at the end of ${shortName(turn, target)} is enough: easy to see, and easy to undo.`,
  )
  const edited = await editFile(turn, target)
  await turn.say(afterEdit(edited))

  await turn.step(2)
  const ran = await lookAround(turn)
  await turn.say(afterRun(ran))

  await turn.step(3)
  await turn.say(
    [
      '### Done',
      '',
      '| Step | Result |',
      '| --- | --- |',
      `| Read | ${seen ? `\`${shortName(turn, seen.file)}\`` : 'nothing to read'} |`,
      `| Edit | ${edited} |`,
      `| Command | ${typeof ran === 'string' ? ran : `exit code ${ran.exitCode ?? ran.signal}`} |`,
      '',
      'Type `/help` to see what else I can do: failures, slow work to cancel, Markdown, images and more.',
    ].join('\n'),
  )
  await turn.step(4)
}

/** Returns a list of all parts of a prompt besides its text, so that the user sees what the agent received. */
export function attachments(prompt: readonly ContentBlock[]): string | undefined {
  const lines = prompt.flatMap(block => {
    const line = nameOf(block)
    return line ? [`- ${line}`] : []
  })
  return lines.length > 0 ? `You attached:\n\n${lines.join('\n')}\n\n` : undefined
}

function nameOf(block: ContentBlock): string | undefined {
  switch (block.type) {
    case 'resource_link':
      return `a link to \`${block.name}\` (${block.uri})`
    case 'resource': {
      const { resource } = block
      const size =
        'text' in resource
          ? `${resource.text.split('\n').length} lines`
          : `${Math.floor((resource.blob.length * 3) / 4)} bytes`
      return `the content of ${resource.uri} (${size})`
    }
    case 'image':
    case 'audio':
      return `${block.type === 'image' ? 'an image' : 'a sound'} (${block.mimeType}, about ${Math.floor((block.data.length * 3) / 4)} bytes)`
    default:
      return undefined
  }
}

import path from 'node:path'
import type { ContentBlock } from '@agentclientprotocol/sdk'
import { choose, type Turn } from '../turn.ts'
import { shortName, subjectFile } from '../workspace.ts'
import { afterEdit, describe, editFile, readFile } from './files.ts'
import { afterRun, lookAround } from './run.ts'

/** `/tour`, also the answer to any other prompt: reads a real file, makes a small real edit, and runs a harmless command. */
export async function tour(turn: Turn, input: string): Promise<void> {
  await turn.think(
    'I am a script, not a model, so I cannot understand the question. ' +
      'What I can do is show every step of a turn: read, plan, edit, run. ' +
      'First I need a file to show it with.',
  )
  await turn.say(
    'I am the **demo agent**: a script that shows what working with an agent looks like, without an account. ' +
      'Everything I do in your folder is real, and I ask before I change anything.\n\n',
  )
  const attached = attachments(turn.prompt)
  if (attached) await turn.say(attached)

  await turn.plan(['Read a file', 'Propose a small edit', 'Run a harmless command', 'Sum up'])
  await turn.step(0)
  const file = await subjectFile(turn, input)
  const seen = file ? await readFile(turn, file) : undefined
  await turn.say(
    seen ? describe(turn, seen) : 'There is no text file here yet, so I will propose a new one.\n\n',
  )

  if (turn.session.settings.mode === 'plan' && !(await mayLeavePlan(turn))) {
    return turn.say('Then I leave it at the plan. Switch the mode, or ask again, whenever you like.')
  }
  await turn.step(1)
  const target = seen?.file ?? path.join(turn.session.cwd, 'parley-demo.md')
  await turn.think(`One comment at the end of ${shortName(turn, target)} will do: visible, and easy to undo.`)
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
      '| step | result |',
      '| --- | --- |',
      `| read | ${seen ? `\`${shortName(turn, seen.file)}\`` : 'nothing to read'} |`,
      `| edit | ${edited} |`,
      `| command | ${typeof ran === 'string' ? ran : `exit code ${ran.exitCode ?? ran.signal}`} |`,
      '',
      'Type `/help` to see what else I can show: failures, slow work to cancel, all of markdown, images.',
    ].join('\n'),
  )
  await turn.step(4)
}

/** Asks for permission to leave plan mode, as agents with such a mode do. */
async function mayLeavePlan(turn: Turn): Promise<boolean> {
  const call = await turn.tool({
    title: 'Ready to carry out the plan?',
    kind: 'switch_mode',
    content: [
      {
        type: 'content',
        content: { type: 'text', text: '1. a comment at the end of one file\n2. a look into the folder' },
      },
    ],
  })
  const chosen = await choose(turn, call, {}, [
    { optionId: 'ask', name: 'Yes, and ask before each step', kind: 'allow_once' },
    { optionId: 'edit', name: 'Yes, and edit freely', kind: 'allow_always' },
    { optionId: 'stay', name: 'No, stay in Plan', kind: 'reject_once' },
  ])
  if (chosen !== 'ask' && chosen !== 'edit') {
    await call.fail('The plan stays a plan.')
    return false
  }
  await call.complete()
  await turn.changeMode(chosen)
  return true
}

/** Lists everything in a prompt besides its text, so that the user sees what reached the agent. */
export function attachments(prompt: readonly ContentBlock[]): string | undefined {
  const lines = prompt.flatMap(block => {
    const line = nameOf(block)
    return line ? [`- ${line}`] : []
  })
  return lines.length > 0 ? `You sent along:\n\n${lines.join('\n')}\n\n` : undefined
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

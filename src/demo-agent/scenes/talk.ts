import { randomUUID } from 'node:crypto'
import type { StopReason } from '@agentclientprotocol/sdk'
import { type ClientFeatures, FEATURES } from '../client.ts'
import { fenced, text } from '../tool-call.ts'
import type { Turn } from '../turn.ts'

/** `/where`: tells the session's folders, MCP servers and client capabilities. */
export async function where(turn: Turn): Promise<void> {
  const [cwd, ...others] = turn.session.roots
  const folders = [`- \`${cwd}\` (the working directory)`, ...others.map(folder => `- \`${folder}\``)]
  const servers = turn.session.mcpServers.map(server => `- ${server}`)
  const features = Object.entries(FEATURES).map(
    ([name, [about]]) => `- ${about}: ${turn.features[name as keyof ClientFeatures] ? 'yes' : 'no'}`,
  )
  await turn.say(
    [
      '### Folders',
      ...folders,
      '',
      '### MCP servers',
      ...(servers.length > 0 ? servers : ['None were passed.']),
      ...(servers.length > 0 ? ['', "I only list them: the demo agent doesn't connect to MCP servers."] : []),
      '',
      '### What the client offers',
      ...features,
    ].join('\n'),
  )
}

const STOP_REASONS = ['end_turn', 'max_tokens', 'max_turn_requests', 'refusal', 'cancelled'] as const

/** `/stop [reason]`: ends the turn with one of the protocol's stop reasons. */
export async function stop(turn: Turn, input: string): Promise<void> {
  const reason = STOP_REASONS.find(candidate => candidate === input.trim()) ?? 'max_tokens'
  await turn.say(`This turn ends with the stop reason \`${reason}\`.`)
  turn.stopReason = reason satisfies StopReason
}

/** `/notice`: sends a notice of each severity. */
export async function notice(turn: Turn): Promise<void> {
  if (!turn.features.notices) return turn.say("Your client doesn't support notices, so I can't send any.")
  await turn.emit({ sessionUpdate: 'notice', severity: 'info', title: 'The demo agent says hello' })
  await turn.emit({
    sessionUpdate: 'notice',
    severity: 'warning',
    title: 'The demo agent is running low on ideas',
    description: 'It has `12` left. This is a warning with a description.',
  })
  await turn.emit({
    sessionUpdate: 'notice',
    severity: 'error',
    title: 'This is an example of an error: nothing went wrong',
  })
  await turn.say('These were three notices.')
}

/** `/compact`: reports a compaction of the context with a streamed summary. */
export async function compact(turn: Turn): Promise<void> {
  if (turn.features.compaction) {
    const compactionId = randomUUID()
    await turn.emit({ sessionUpdate: 'compaction_update', compactionId, status: 'in_progress' })
    for (const text of ['You asked a demo agent ', 'to show what it can do, ', 'and it did.']) {
      await turn.emit({
        sessionUpdate: 'compaction_summary_chunk',
        compactionId,
        content: { type: 'text', text },
      })
      await turn.rest(300)
    }
    await turn.emit({ sessionUpdate: 'compaction_update', compactionId, status: 'completed' })
  }
  const before = turn.session.used
  turn.session.used = Math.min(before, 500)
  await turn.say(`The context went from about ${before} to about ${turn.session.used} tokens.`)
}

/** `/think`: sends several thoughts with text between them. */
export async function think(turn: Turn): Promise<void> {
  if (!turn.session.settings.thoughts) {
    return turn.say("*Show thoughts* is turned off for this session, so there's nothing to see.")
  }
  await turn.think(
    '**Looking at the question**\n\nThe prompt asks for nothing in particular. ' +
      "That's fine: this only shows what thoughts look like.",
  )
  await turn.say('First I thought about the question.\n\n')
  await turn.think('And now a second thought, after some text. It should be a separate block.')
  await turn.say('Then I had a second thought. Both were scripted.')
}

/** `/long [paragraphs]`: sends a long answer. */
export async function long(turn: Turn, input: string): Promise<void> {
  const paragraphs = Math.min(Math.max(Number.parseInt(input, 10) || 40, 1), 2_000)
  for (let number = 1; number <= paragraphs; number++) {
    await turn.say(paragraph(number, paragraphs), `long-${turn.session.id}-${turn.session.meta.prompts}`)
  }
}

function paragraph(number: number, of: number): string {
  const heading = number % 10 === 1 ? `## Part ${Math.ceil(number / 10)}\n\n` : ''
  return (
    `${heading}This is paragraph **${number}** of ${of}. It's here to try out scrolling: while it streams, the view ` +
    "should stay where you scrolled to, and follow only if you're at the end. Select some of this text, scroll up, " +
    `or type a prompt: paragraph ${number + 1} shouldn't disturb any of it.\n\n`
  )
}

/** `/markdown`: sends an answer with all elements of Markdown. */
export async function markdown(turn: Turn): Promise<void> {
  await turn.say(MARKDOWN)
}

const MARKDOWN = `# Heading one
## Heading two
### Heading three

Plain text with *emphasis*, **strong**, ~~struck~~, \`code\`, a [link](https://agentclientprotocol.com) and a bare
address: https://agentclientprotocol.com. A line\\
break, an escaped \\*star\\*, and other scripts: żółć, 日本語, العربية, 👩‍💻.

- a list
  - with a deeper level
    - and a third
- [x] a task that is done
- [ ] a task that is not

1. first
2. second
   with a second line

> A quotation
> > within a quotation

| left | center | right |
| :--- | :---: | ---: |
| \`a\` | **b** | 1 |
| a longer cell | c | 1,000 |

\`\`\`ts
export function greet(name: string): string {
  // Highlighted as TypeScript.
  return \`Hello, \${name}\`
}
\`\`\`

\`\`\`diff
- the old line
+ the new line
\`\`\`

\`\`\`
A fence without a language, and a line that is far too long for any side bar ${'and goes on '.repeat(12)}until here.
\`\`\`

Inline math $e^{i\\pi} + 1 = 0$ and a block:

$$
\\sum_{k=1}^{n} k = \\frac{n(n+1)}{2}
$$

\`\`\`mermaid
graph LR
  Editor -- ACP --> Agent
  Agent -- MCP --> Tools
\`\`\`

<b>HTML is shown as text or made safe.</b><script>document.title = 'This must never run'</script>

---

That was all of it.
`

/** `/plan [goal]`: reports a plan that progresses without any real work. */
export async function plan(turn: Turn, input: string): Promise<void> {
  const goal = input || 'an example'
  await turn.think(`The goal: ${goal}. Look around, decide, work in small steps, check.`)
  const steps = [
    'Look around',
    'Decide what to do',
    'Do the first half',
    'Do the second half',
    'Check the result',
  ]
  await turn.plan(steps)
  await turn.say(`A plan for: **${goal}**. I'm only pretending to work on it.\n\n`)
  for (const [number, step] of steps.entries()) {
    await turn.step(number)
    await turn.say(`${number + 1}. ${step} …\n`)
    await turn.rest(700)
  }
  await turn.step(steps.length)
  await turn.say('\nEvery step is done.')
}

/** `/fail`: calls a tool that fails, then continues. */
export async function fail(turn: Turn): Promise<void> {
  await turn.say('Now I call a tool that fails.\n\n')
  const call = await turn.tool({
    title: 'Fetch https://demo.invalid/data.json',
    kind: 'fetch',
    rawInput: { url: 'https://demo.invalid/data.json' },
  })
  await call.run()
  await turn.rest(600)
  await call.fail("The host demo.invalid doesn't exist.", [
    fenced('getaddrinfo ENOTFOUND demo.invalid\n    at the demo agent (nothing was fetched)'),
  ])
  await turn.say('It failed as intended: nothing was really fetched. The turn continues.')
}

/** `/slow [seconds]`: works for the given time and can be canceled at any moment. */
export async function slow(turn: Turn, input: string): Promise<void> {
  const seconds = Math.min(Math.max(Number.parseFloat(input) || 30, 0.1), 3600)
  await turn.say(`I'll be busy for ${seconds} seconds. You can stop me at any time.\n\n`)
  const call = await turn.tool({ title: `Work for ${seconds} seconds`, kind: 'other', rawInput: { seconds } })
  await call.run()
  const steps = Math.min(Math.ceil(seconds), 120)
  for (let done = 1; done <= steps; done++) {
    await turn.wait((seconds * 1000) / steps)
    await call.update({ content: [text(`${Math.round((done / steps) * 100)} % done`)] })
  }
  await call.end('completed')
  await turn.say("Finished: you didn't stop me.")
}

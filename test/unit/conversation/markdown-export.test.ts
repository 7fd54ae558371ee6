import assert from 'node:assert/strict'
import fc from 'fast-check'
import MarkdownIt from 'markdown-it'
import { contained, escaped, fenced, folded } from '../../../src/conversation/markdown.ts'
import { conversationMarkdown, latestTurns } from '../../../src/conversation/markdown-export.ts'
import { createSessionState, reduce } from '../../../src/conversation/reducer/reduce.ts'
import { update as arbitraryUpdate } from './arbitrary-updates.ts'
import { chunk } from './updates.ts'

const markdown = new MarkdownIt({ html: true })
/** Text with every special character. */
const nasty = fc
  .array(
    fc.oneof(
      fc.string({ maxLength: 8 }),
      fc.constantFrom(
        '```',
        '~~~',
        '````',
        '\n',
        '<details>',
        '</details>',
        '<summary>',
        '<!--',
        '# ',
        '> ',
        '`',
        '[x](y)',
      ),
    ),
    { maxLength: 12 },
  )
  .map(parts => parts.join(''))

/** Counts how often collapsed sections are opened and closed in the Markdown. */
function folds(text: string): { opened: number; closed: number; deepest: number; least: number } {
  let depth = 0
  const seen = { opened: 0, closed: 0, deepest: 0, least: 0 }
  for (const token of markdown.parse(text, {})) {
    const html = token.type === 'html_block' ? token.content : ''
    for (const [tag] of html.matchAll(/<\/?details>/g)) {
      if (tag === '<details>') seen.opened += 1
      else seen.closed += 1
      depth += tag === '<details>' ? 1 : -1
      seen.deepest = Math.max(seen.deepest, depth)
      seen.least = Math.min(seen.least, depth)
    }
  }
  return seen
}

describe('in Markdown', () => {
  it('code is one code block, whatever it contains', () => {
    fc.assert(
      fc.property(nasty, text => {
        const tokens = markdown.parse(fenced(text, 'ts'), {})
        assert.equal(tokens.length, 1)
        assert.equal(tokens[0]?.type, 'fence')
        const clean = (value: string) =>
          value.replace(/\r\n?/g, '\n').replace(/\0/g, '\ufffd').replace(/\n$/, '')
        assert.equal(clean(tokens[0]!.content), clean(text))
      }),
    )
  })

  it('code is one code block, however many runs of backticks it contains', () => {
    const text = '` '.repeat(300_000)
    assert.ok(fenced(text) === `\`\`\`\n${text}\n\`\`\``)
    assert.ok(fenced(`${text}\`\`\`\`\``).startsWith('``````\n'))
  })

  it('a title is only a title', () => {
    fc.assert(
      fc.property(nasty, text => {
        const tokens = markdown.parse(`# ${escaped(`x${text}`)}`, {})
        assert.deepEqual(
          tokens.map(token => token.type),
          ['heading_open', 'inline', 'heading_close'],
        )
        assert.ok(!tokens[1]!.children!.some(token => token.type !== 'text' && token.type !== 'text_special'))
      }),
    )
  })

  it('no entry can end its collapsed section', () => {
    fc.assert(
      fc.property(nasty, nasty, (summary, text) => {
        const whole = `${folded(summary, [contained(text)])}\n\n# After`
        assert.deepEqual(folds(whole), { opened: 1, closed: 1, deepest: 1, least: 0 })
        const after = markdown.parse(whole, {}).at(-2)
        assert.equal(after?.content, 'After', 'what follows is read as ever')
      }),
    )
  })

  it('any conversation includes every entry with text, and closes all sections', () => {
    fc.assert(
      fc.property(fc.array(arbitraryUpdate, { maxLength: 25 }), updates => {
        const state = createSessionState()
        for (const update of updates) reduce(state, update, 1)
        const text = conversationMarkdown(state, { title: 'T', agentName: 'A', cwd: '/p' })
        const { opened, closed, deepest, least } = folds(text)
        assert.equal(opened, closed)
        assert.ok(deepest <= 2 && least >= 0)
        const calls = state.entries.filter(entry => entry.kind === 'tool_call').length
        assert.ok(opened >= calls)
      }),
    )
  })

  it('a conversation reads as it looks in the view', () => {
    const state = createSessionState()
    const update = (one: Parameters<typeof reduce>[1]) => reduce(state, one, 1)
    update({ type: 'message_chunk', role: 'user', content: { type: 'text', text: 'Fix it' } })
    update({ type: 'message_chunk', role: 'thought', content: { type: 'text', text: 'Hm.' } })
    update({
      type: 'tool_call',
      toolCall: {
        toolCallId: 't',
        title: 'Edit a.ts',
        status: 'completed',
        content: [
          { type: 'diff', changes: [{ operation: 'modify', path: 'a.ts', oldText: 'a\n', newText: 'b\n' }] },
        ],
      },
    })
    update({
      type: 'terminal',
      terminal: { terminalId: 'x', command: 'npm test', output: '\u001b[31mred\u001b[0m\n' },
    })
    update({
      type: 'tool_call',
      toolCall: {
        toolCallId: 'u',
        title: '`npm test`',
        status: 'failed',
        content: [{ type: 'terminal', terminalId: 'x' }],
      },
    })
    update({ type: 'message_chunk', role: 'agent', content: { type: 'text', text: 'Done: **b**.' } })
    assert.equal(
      conversationMarkdown(state, { title: 'Fix <it>', agentName: 'Claude', cwd: '/p' }),
      `# Fix \\<it\\>

Claude · \`/p\`

## You

Fix it

## Claude

<details>
<summary>Thought</summary>

Hm.

</details>

<details>
<summary>Edit a.ts</summary>

\`\`\`diff
--- a.ts
+++ a.ts
@@ -1,1 +1,1 @@
-a
+b
\`\`\`

</details>

<details>
<summary>\`npm test\` (failed)</summary>

\`\`\`console
$ npm test
red
\`\`\`

</details>

Done: **b**.
`,
    )
  })

  it('has the latest turns if it must not be long, and the end of the last one at least', () => {
    const state = createSessionState()
    for (const turn of [1, 2, 3]) {
      reduce(state, chunk('user', `ask ${turn}`), 1)
      reduce(state, chunk('agent', `answer ${turn} ${'x'.repeat(100)} end ${turn}`), 1)
    }
    const about = { title: 'T', agentName: 'A' }
    const whole = latestTurns(state, about, 10_000)
    assert.deepEqual([whole.turns, whole.of, whole.text], [3, 3, conversationMarkdown(state, about)])
    const two = latestTurns(state, about, 300)
    assert.deepEqual([two.turns, two.of], [2, 3])
    assert.match(two.text, /^# T\n\nA\n\n\*The conversation is longer than this.*ask 2.*end 2.*ask 3.*end 3/s)
    assert.doesNotMatch(two.text, /ask 1|end 1/)
    const end = latestTurns(state, about, 50)
    assert.deepEqual([end.turns, end.of, end.isPart], [1, 3, true])
    assert.match(end.text, /only the end of the conversation's last turn.*x end 3\n$/s)
    assert.doesNotMatch(end.text, /answer 3/)
  })
})

import assert from 'node:assert/strict'
import { toolOutput, withoutEscapes } from '../../../src/conversation/tool-output.ts'
import { cpuTime } from '../../support/cpu-time.ts'

describe('the text of a tool call', () => {
  const output = (text: string) => ({ text, language: '' })

  it('is literal output if the tool runs, reads or searches', () => {
    const code = '# a comment\nimport __main__\n- 3 * 4 * 5 <b>\n'
    for (const kind of ['execute', 'read', 'search']) assert.deepEqual(toolOutput(code, kind), output(code))
    for (const kind of ['edit', 'think', 'fetch', 'other', "the agent's own", undefined])
      assert.equal(toolOutput(code, kind), undefined)
  })

  it('is Markdown if it starts with a fence, as agents wrap output, or is empty', () => {
    for (const text of ['```console\n$ ls\n```', '\n~~~\nx\n~~~', '````md\n```\n````', '', ' \n'])
      assert.equal(toolOutput(text, 'execute'), undefined)
    const readme = 'How to start:\n```sh\nnpm start\n```\n'
    assert.deepEqual(toolOutput(readme, 'read'), output(readme))
  })

  it('is literal output of any tool if it has escape sequences, which are removed', () => {
    const text = '\u001b]0;title\u0007\u001b[1;31mred\u001b[0m\n\u001b[2Kdone'
    assert.deepEqual(toolOutput(text, 'other'), output('red\ndone'))
    assert.deepEqual(toolOutput(text), output('red\ndone'))
    assert.equal(withoutEscapes('plain'), 'plain')
  })

  it('is data from any tool if it is an object or a list', () => {
    const lines = '{\n  "__name__": "*x*"\n}\n'
    assert.deepEqual(toolOutput(lines, 'other'), { text: lines, language: 'json' })
    assert.deepEqual(toolOutput(' [{"a":1}] '), { text: '[\n  {\n    "a": 1\n  }\n]', language: 'json' })
    for (const text of ['[a link](b.md)', '{not: json}', '"text"', '7', '[INFO] started', '[1] and more'])
      assert.equal(toolOutput(text, 'other'), undefined)
    assert.deepEqual(toolOutput('[INFO] started', 'execute'), output('[INFO] started'))
  })

  it('is read in linear time', () => {
    for (const text of [
      '{'.repeat(999_999),
      '[\n'.repeat(400_000),
      '\u001b]'.repeat(200_000),
      ' '.repeat(1_000_000),
    ])
      assert.ok(cpuTime(() => toolOutput(text, 'execute')) < 2000)
  })
})

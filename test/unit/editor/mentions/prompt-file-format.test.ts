// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables in prompt files have this syntax
import assert from 'node:assert/strict'
import fc from 'fast-check'
import {
  inputsOf,
  parsePromptFile,
  referencesOf,
  typedInputs,
  variablesOf,
  visibleName,
  withValues,
} from '../../../../src/editor/mentions/prompt-file-format.ts'
import { cpuTime } from '../../../support/cpu-time.ts'

/** Text of the characters that mean something in a prompt file. */
const anyText = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 300 }),
  fc
    .array(
      fc.constantFrom(
        ...'---|\n|\r\n|name: |description: |"|\'|`|```|[|](|)|#file:|${input:|:|}|${selection}|\\|x|é| |\t|<|>|=|\ufeff'.split(
          '|',
        ),
      ),
      { maxLength: 120 },
    )
    .map(parts => parts.join('')),
)

describe('the format of prompt files', () => {
  it("reads VS Code's front matter in its different forms", () => {
    const parsed = parsePromptFile(
      [
        '\ufeff---',
        'name: "Create form"',
        "description: 'It''s a form: for React' # not this",
        'argument-hint: >',
        '  the name',
        '  and the fields',
        'agent: agent',
        'tools:',
        "- 'search'",
        '  - fetch',
        'model: GPT-5 # the best',
        '---',
        '',
        'Create a form.',
        '',
      ].join('\r\n'),
    )
    assert.deepEqual(parsed, {
      name: 'Create-form',
      description: "It's a form: for React",
      hint: 'the name and the fields',
      unapplied: ['agent', 'model', 'tools'],
      body: 'Create a form.',
    })
  })

  it('takes what is no front matter as the text, and ignores values that it cannot read', () => {
    const whole = '---\nname: x\nno end'
    assert.deepEqual(parsePromptFile(whole), { unapplied: [], body: whole })
    assert.deepEqual(parsePromptFile('---\ndescription: {a: [b}\nname: *x\n: :\n\t- -\n---\nBody'), {
      unapplied: [],
      body: 'Body',
    })
    assert.deepEqual(parsePromptFile(' ---\nname: x\n---\n'), { unapplied: [], body: '---\nname: x\n---' })
    assert.equal(parsePromptFile('---\ndescription: "a\\nb \\"c\\""\n---').description, 'a b "c"')
  })

  it('names a file by letters that can be seen, and reads a long front matter at once', () => {
    assert.equal(visibleName('compact\u3164'), 'compact-U-3164')
    assert.equal(visibleName('a--b  c!'), 'a--b-c')
    assert.equal(visibleName(`a${'😀'.repeat(3)}`), 'a')
    assert.equal(visibleName('\u{20000}'.repeat(100)), '\u{20000}'.repeat(50))
    assert.equal(visibleName(`a${'\u{20000}'.repeat(100)}`), `a${'\u{20000}'.repeat(49)}`)
    const parse = () => {
      for (const value of [`a${'-'.repeat(100_000)}x`, `\n ${' #a'.repeat(30_000)}\u2028x`])
        parsePromptFile(`---\nname: ${value}\n---\n`)
    }
    assert.ok(cpuTime(parse) < 1000, 'takes less than a second')
  })

  it('finds inputs and variables, and puts values in without reading them again', () => {
    const body =
      'A ${input:name} ${input:name:the name} ${input: kind :which} ${selection} $${file} ${HOME} ${a.b}'
    assert.deepEqual(inputsOf(body), [
      { name: 'name', placeholder: 'the name' },
      { name: 'kind', placeholder: 'which' },
    ])
    assert.deepEqual(variablesOf(body), ['selection', 'file', 'HOME'])
    const values = new Map([
      ['selection', '${file} $& ${input:name}'],
      ['file', '/a b'],
    ])
    const inputs = new Map([
      ['name', '${selection}'],
      ['kind', ''],
    ])
    assert.equal(
      withValues(body, values, inputs, 1000),
      'A ${selection} ${selection}  ${file} $& ${input:name} $/a b ${HOME} ${a.b}',
    )
    const twice = new Map([['selection', 'x'.repeat(600)]])
    assert.equal(withValues('${selection}${selection}', twice, new Map(), 1000), undefined)
  })

  it('takes values that are typed after the name, up to the first other word', () => {
    const inputs = ['name', 'fields', 'n'].map(name => ({ name, placeholder: '' }))
    const read = (args: string) => {
      const { values, length } = typedInputs(args, inputs)
      return [Object.fromEntries(values), args.slice(length)]
    }
    assert.deepEqual(read(' name=Moon fields="a b, c"  and more n=1'), [
      { name: 'Moon', fields: 'a b, c' },
      '  and more n=1',
    ])
    assert.deepEqual(read(" n='' other=1"), [{ n: '' }, ' other=1'])
    assert.deepEqual(read(' name="open'), [{}, ' name="open'])
    assert.deepEqual(read(' name=\ufffc'), [{}, ' name=\ufffc'])
    assert.deepEqual(read(''), [{}, ''])
  })

  it('finds links and #file references outside of code, each once', () => {
    const body = [
      'See [one](../one.md), ![two](<a b/two.png> "title"), [three](three%20x.ts#L3) and [one](../one.md).',
      '#file:src/four.ts, (#file:"a b/five.ts"). Not: x#file:no',
      '`[code](code.md)` and ``#file:code`` ` [six](six.md)',
      '```ts',
      '[fenced](fenced.md)',
      '````',
      '[seven](seven.md) [web](https://example.com/x.md) [mail](mailto:a@b) [here](#part) [share](//host/share)',
    ].join('\n')
    assert.deepEqual(referencesOf(body), [
      '../one.md',
      'a b/two.png',
      'three x.ts',
      'src/four.ts',
      'a b/five.ts',
      'six.md',
      'seven.md',
    ])
  })

  it('never throws, and finds only what is in the text', () => {
    fc.assert(
      fc.property(anyText, source => {
        const { body, name, description = '', hint = '' } = parsePromptFile(source)
        assert.ok(body.length <= source.length && !body.includes('\r'))
        assert.ok(name === undefined || /^[^\s/:]+$/.test(name))
        assert.ok(!/[\r\n]/.test(description + hint) && description.length <= 1000)
        for (const input of inputsOf(body)) assert.ok(body.includes(input.name))
        assert.ok(referencesOf(body).length <= body.length)
        // without values, nothing changes
        assert.equal(withValues(body, new Map(), new Map(), body.length), body)
        const all = new Map(inputsOf(body).map(input => [input.name, 'X']))
        const variables = new Map(variablesOf(body).map(variable => [variable, 'Y']))
        withValues(body, variables, all, 1000)
        const { length } = typedInputs(body, inputsOf(body))
        assert.ok(length <= body.length)
      }),
    )
  })

  it('reads the largest files of any form at once', () => {
    for (const piece of [
      '[',
      '[a',
      '[a](',
      '[a](b "',
      '`',
      '``` ',
      '`` ` ',
      '${input:',
      '${input:a:',
      '#file:',
      '#file:"a',
      '---\n',
      'a: "\\',
      "a: '",
      'a: |\n ',
    ]) {
      const source = piece.repeat(Math.floor(262_144 / piece.length))
      for (const text of [source, `---\n${source}\n---\n${source}`]) {
        const began = process.cpuUsage()
        const { body } = parsePromptFile(text)
        referencesOf(body)
        inputsOf(body)
        withValues(body, new Map(), new Map(), 1e6)
        typedInputs(body, [])
        const { user, system } = process.cpuUsage(began)
        assert.ok(user + system < 1_500_000, `${JSON.stringify(piece)} took ${(user + system) / 1000} ms`)
      }
    }
  })
})

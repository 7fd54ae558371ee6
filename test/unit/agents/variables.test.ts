// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables in settings have this syntax
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { substitute, type VariableContext, variablesIn } from '../../../src/agents/variables.ts'

const context: VariableContext = {
  folders: [
    { name: 'api', path: '/work/api' },
    { name: 'web app', path: '/work/web' },
  ],
  userHome: '/home/me',
  env: { TOKEN: 'secret', EMPTY: '', Path: 'C:\\bin', TRICK: '${env:TOKEN}$&$1' },
  platform: 'linux',
}

describe('variables in settings', () => {
  const known: Array<[string, string]> = [
    ['${workspaceFolder}', '/work/api'],
    ['${workspaceFolder:api}/x', '/work/api/x'],
    ['${workspaceFolder:web app}', '/work/web'],
    ['${workspaceFolderBasename}', 'api'],
    ['${userHome}/bin', '/home/me/bin'],
    ['Bearer ${env:TOKEN}', 'Bearer secret'],
    ['[${env:EMPTY}]', '[]'],
    ['a${pathSeparator}b${/}c', 'a/b/c'],
    ['${env:TOKEN}${env:TOKEN}', 'secretsecret'],
    ['', ''],
    ['$HOME $ {x} ${', '$HOME $ {x} ${'],
  ]
  for (const [text, replaced] of known) {
    it(`replaces ${text || 'nothing in an empty text'}`, () => {
      assert.deepEqual(substitute(text, context), { text: replaced, problems: [] })
    })
  }

  it('are replaced in time that grows with the text, also if none of them ends', () => {
    // would take minutes if each one were searched for to the end of the text
    const text = '${'.repeat(300_000)
    assert.deepEqual(substitute(text, context), { text, problems: [] })
    assert.deepEqual(variablesIn(text), [])
  })

  it("doesn't expand variables recursively", () => {
    assert.deepEqual(substitute('${env:TRICK}', context), { text: '${env:TOKEN}$&$1', problems: [] })
    const odd = { ...context, folders: [{ name: 'x', path: '/${env:TOKEN}' }] }
    assert.equal(substitute('${workspaceFolder}', odd).text, '/${env:TOKEN}')
  })

  it("doesn't use inherited properties of objects", () => {
    for (const name of ['env:constructor', 'env:__proto__', 'constructor', '__proto__', 'toString']) {
      assert.equal(substitute(`\${${name}}`, context).problems.length, 1, name)
    }
  })

  const unknown: Array<[string, RegExp]> = [
    ['${nope}', /^unknown variable$/],
    ['${}', /^unknown variable$/],
    ['${file}', /^unknown variable$/],
    ['${command:x}', /^unknown variable$/],
    ['${userHome:x}', /^unknown variable$/],
    ['${TOKEN}', /did you mean \$\{env:TOKEN\}\?$/],
    ['${API_KEY}', /did you mean \$\{env:API_KEY\}\?$/],
    ['${env:}', /the name of an environment variable is missing/],
    ['${workspaceFolder:nope}', /^unknown workspace folder \(available: "api", "web app"\)$/],
    ['${input:key}', /only in parley\.mcpServers/],
  ]
  for (const [text, message] of unknown) {
    it(`keeps ${text} and reports why`, () => {
      const substitution = substitute(`a ${text} b`, context)
      assert.equal(substitution.text, `a ${text} b`)
      assert.equal(substitution.problems.length, 1)
      assert.equal(substitution.problems[0]?.variable, text)
      assert.equal(substitution.problems[0]?.fatal, true)
      assert.match(substitution.problems[0]?.message ?? '', message)
    })
  }

  it('reports that no folder is open', () => {
    for (const text of ['${workspaceFolder}', '${workspaceFolderBasename}']) {
      const [problem] = substitute(text, { ...context, folders: [] }).problems
      assert.equal(problem?.message, 'no local folder is open')
    }
  })

  it('replaces an unset environment variable with nothing, like VS Code, and reports it', () => {
    const substitution = substitute('a${env:NOPE}b', context)
    assert.equal(substitution.text, 'ab')
    assert.deepEqual(
      substitution.problems.map(problem => problem.fatal),
      [false],
    )
  })

  it('ignores the case of an environment variable only on Windows', () => {
    assert.equal(substitute('${env:PATH}', { ...context, platform: 'win32' }).text, 'C:\\bin')
    assert.equal(substitute('${env:PATH}', context).text, '')
    assert.equal(substitute('a${/}b', { ...context, platform: 'win32' }).text, 'a\\b')
  })

  it("prefers the caller's variables", () => {
    const more = (name: string) => (name === 'input:key' ? '${env:TOKEN}' : undefined)
    assert.deepEqual(substitute('${input:key}-${env:TOKEN}', context, more), {
      text: '${env:TOKEN}-secret',
      problems: [],
    })
  })

  it('keeps a text without variables', () => {
    fc.assert(
      fc.property(
        fc.string().filter(text => !text.includes('${')),
        text => {
          assert.deepEqual(substitute(text, context), { text, problems: [] })
          assert.deepEqual(variablesIn(text), [])
        },
      ),
    )
  })

  it('replaces each variable separately, whatever the values contain', () => {
    // after a piece that ends with `$`, a `{` would start a variable
    const literal = fc.string().filter(text => !text.includes('${') && !text.endsWith('$'))
    const value = fc.string()
    fc.assert(
      fc.property(fc.array(fc.tuple(literal, value)), literal, (pairs, tail) => {
        const env = Object.fromEntries(pairs.map(([, stands], at) => [`V${at}`, stands]))
        const text = pairs.map(([before], at) => `${before}\${env:V${at}}`).join('') + tail
        const expected = pairs.map(([before, stands]) => before + stands).join('') + tail
        assert.deepEqual(substitute(text, { ...context, env }), { text: expected, problems: [] })
        assert.deepEqual(
          variablesIn(text),
          pairs.map((_, at) => `env:V${at}`),
        )
      }),
    )
  })

  it('never throws, and changes nothing without a variable or a problem', () => {
    const piece = fc.oneof(
      fc.string(),
      fc.constantFrom('${', '}', '${env:', 'input:', '${env:TOKEN}', '$', '{'),
    )
    fc.assert(
      fc.property(fc.array(piece), pieces => {
        const text = pieces.join('')
        const { text: replaced, problems } = substitute(text, context)
        for (const problem of problems) assert.ok(text.includes(problem.variable))
        if (variablesIn(text).length === problems.filter(problem => problem.fatal).length) {
          assert.equal(replaced, text)
        }
      }),
    )
  })
})

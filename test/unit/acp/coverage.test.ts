import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { type JsonSchema, officialSchema } from '../../support/official-schema.ts'
import { COVERAGE, wordOf } from './protocol-coverage.ts'

const SOURCE = path.join(import.meta.dirname, '../../../src/acp')

/** What the table must contain for one schema: `method session/new`, `update plan`, … */
function wanted(version: 1 | 2, unstable: boolean): Set<string> {
  const { $defs } = officialSchema(version, unstable)
  const names = new Set<string>()
  for (const def of Object.values($defs)) {
    if (def['x-method']) names.add(`method ${def['x-method']}`)
  }
  for (const name of variants($defs.SessionUpdate!, 'sessionUpdate')) names.add(`update ${name}`)
  const paths = [
    ...capabilities($defs, 'AgentCapabilities', 'agent'),
    ...capabilities($defs, 'ClientCapabilities', 'client'),
  ]
  // the rows of the capabilities in it cover a capability that only contains others
  for (const name of paths) {
    if (!paths.some(other => other.startsWith(`${name}.`))) names.add(`capability ${name}`)
  }
  for (const [union, property] of UNIONS) {
    const def = $defs[union]
    for (const name of def ? variants(def, property) : []) names.add(`kind ${union}.${name}`)
  }
  return names
}

const UNIONS: Array<[union: string, property: string]> = [
  ['ContentBlock', 'type'],
  ['ToolCallContent', 'type'],
  ['StateUpdate', 'state'],
  ['BackgroundWork', 'type'],
  ['RequestPermissionSubject', 'type'],
  ['PlanUpdateContent', 'type'],
  ['SessionConfigOption', 'type'],
  ['AuthMethod', 'type'],
  ['AvailableCommand', 'type'],
  ['AvailableCommandInput', 'type'],
  ['DiffChange', 'operation'],
  ['McpServer', 'type'],
  ['MultiSelectItems', 'type'],
  ['ReplayFrom', 'type'],
  ['RequestPermissionOutcome', 'outcome'],
  ['SetSessionConfigOptionRequest', 'type'],
  ['CreateElicitationResponse', 'action'],
  ['CreateElicitationRequest', 'mode'],
  ['ElicitationPropertySchema', 'type'],
]

function variants(def: JsonSchema, property: string): string[] {
  return (def.oneOf ?? def.anyOf ?? []).flatMap(variant => {
    const name = variant.properties?.[property]?.const
    return typeof name === 'string' ? [name] : []
  })
}

function capabilities(defs: Record<string, JsonSchema>, name: string, at: string): string[] {
  return Object.entries(defs[name]?.properties ?? {}).flatMap(([key, value]) => {
    if (key === '_meta') return []
    const refs = [value, ...(value.anyOf ?? []), ...(value.allOf ?? [])].flatMap(part =>
      part.$ref ? [part.$ref.replace('#/$defs/', '')] : [],
    )
    return [`${at}.${key}`, ...refs.flatMap(ref => capabilities(defs, ref, `${at}.${key}`))]
  })
}

/** A file without its comments. */
const read = (file: string) =>
  readFileSync(file, 'utf8')
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .replace(/(^|\s)\/\/.*$/gm, '')
/** Whether code contains a name: in quotes, as a key, or as a member. */
function speaksOf(program: string, spoken: string): boolean {
  const name = spoken.replace(/[$.*+?^{}()|[\]\\/]/g, '\\$&')
  return new RegExp(`['"\`.]${name}['"\`]|[\\s{,.(]${name}\\??[:,)]|\\.${name}\\b`).test(program)
}

describe('the protocol coverage table', () => {
  for (const version of [1, 2] as const) {
    const has = new Set(
      COVERAGE.filter(row => row.versions.includes(version)).map(row => `${row.what} ${row.name}`),
    )

    for (const unstable of [false, true]) {
      it(`lists all of the ${unstable ? 'unstable' : 'stable'} schema of v${version}`, () => {
        const all = wanted(version, unstable)
        assert.ok(all.size > 50)
        // a capability that is empty in the stable schema is covered by the rows of its unstable content
        const covered = (name: string) =>
          has.has(name) || [...has].some(other => other.startsWith(`${name}.`))
        assert.deepEqual(
          [...all].filter(name => !covered(name)),
          [],
        )
      })
    }

    it(`lists nothing that v${version} doesn't have`, () => {
      const all = wanted(version, true)
      assert.deepEqual(
        [...has].filter(name => !all.has(name)),
        [],
      )
    })
  }

  it('names the code that handles each row and the test that covers it', () => {
    const wrong: string[] = []
    for (const row of COVERAGE) {
      const { name, at, test, note } = row
      const spoken = wordOf(row)
      // a row has a note if the code handles it without its name
      if (at && !note && !speaksOf(read(path.join(SOURCE, at)), spoken)) wrong.push(`${name}: not in ${at}`)
      if (test && !speaksOf(read(path.join(import.meta.dirname, test)), spoken))
        wrong.push(`${name}: not in ${test}`)
      if (!at && !note) wrong.push(`${name}: no reason`)
      if (at && !test) wrong.push(`${name}: no test`)
    }
    assert.deepEqual(wrong, [])
  })

  it('lists each row once per version', () => {
    const seen = COVERAGE.flatMap(row => row.versions.map(version => `v${version} ${row.what} ${row.name}`))
    assert.deepEqual(
      seen.filter((name, i) => seen.indexOf(name) !== i),
      [],
    )
  })
})

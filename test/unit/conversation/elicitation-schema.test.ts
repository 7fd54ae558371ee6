import { strict as assert } from 'node:assert'
import { Ajv } from 'ajv'
import addFormats from 'ajv-formats'
import fc from 'fast-check'
import type { ElicitationField, ElicitationRequest } from '../../../src/acp/model.ts'
import { answerElicitation } from '../../../src/acp/wire/elicitation.ts'
import { matchesInTime } from '../../../src/common/timed-regexp.ts'
import { describeUrl } from '../../../src/conversation/requests/described-url.ts'
import {
  checkContent,
  checkField,
  describeFieldProblem,
  presetOf,
} from '../../../src/conversation/requests/elicitation.ts'

const base = { key: 'k', title: 'K', required: false }
const field = (more: object) => ({ ...base, ...more }) as ElicitationField
const english = (message: string, ...args: Array<string | number>) =>
  message.replace(/\{(\d)\}/g, (_, index) => String(args[Number(index)]))
const said = (one: ElicitationField, value: unknown) => {
  const problem = checkField(one, value, matchesInTime)
  return problem && describeFieldProblem(problem, english)
}

describe('the validation of a form', () => {
  it('requires only the required fields', () => {
    assert.equal(said(field({ type: 'text', required: true }), ''), 'A value is required.')
    assert.equal(said(field({ type: 'boolean', required: true }), undefined), 'A value is required.')
    assert.equal(said(field({ type: 'boolean', required: true }), false), undefined)
    assert.equal(said(field({ type: 'text', minLength: 3 }), ''), undefined)
    assert.match(said(field({ type: 'unknown', raw: 1, required: true }), undefined) ?? '', /doesn't support/)
  })

  it('checks lengths in characters, ranges, integers and choices', () => {
    const name = field({ type: 'text', minLength: 2, maxLength: 3 })
    assert.equal(said(name, '👋'), 'Enter at least 2 characters.')
    assert.equal(said(name, '👋👋👋'), undefined)
    assert.equal(said(name, 'four'), 'Enter at most 3 characters.')
    const count = field({ type: 'integer', minimum: 1, maximum: 5 })
    assert.equal(said(count, 0), 'Enter 1 or more.')
    assert.equal(said(count, 6), 'Enter 5 or less.')
    assert.equal(said(count, 1.5), 'Enter a whole number.')
    assert.equal(said(count, Number.NaN), 'Enter a whole number.')
    assert.equal(said(field({ type: 'number' }), 'one'), 'Enter a number.')
    assert.equal(said(field({ type: 'boolean' }), 'yes'), 'The value has the wrong type.')
    const choices = [
      { value: 'a', title: 'A' },
      { value: 'b', title: 'B' },
    ]
    assert.equal(said(field({ type: 'select', choices }), 'c'), 'Select one of the available values.')
    const several = field({ type: 'multi_select', choices, minItems: 2 })
    assert.equal(said(several, ['a']), 'Select at least 2.')
    assert.equal(said(several, ['a', 'a']), 'Select each value only once.')
    assert.equal(said(several, ['a', 'b']), undefined)
  })

  it('checks formats', () => {
    const takes = (format: string, text: string) => said(field({ type: 'text', format }), text) === undefined
    const good = {
      email: ['a@b.org', "o'neil+x@sub.example.com"],
      uri: ['https://example.com/?q=%20', 'mailto:a@b.org', 'urn:isbn:0451450523'],
      date: ['2024-02-29', '1999-12-31'],
      'date-time': ['2024-02-29T10:00:00Z', '2024-01-01T00:00:00.5+05:30'],
    }
    const bad = {
      email: ['a@', 'a b@c.org', '@c.org', 'a@-b.org'],
      uri: ['example.com', '/path', 'https://a b', 'http://'],
      date: ['2023-02-29', '2024-13-01', '2024-1-1', 'today'],
      'date-time': ['2024-02-29', '2024-02-29T10:00', '2024-02-29T25:00:00Z', '2024-02-30T10:00:00Z'],
    }
    for (const [format, texts] of Object.entries(good))
      for (const text of texts) assert(takes(format, text), `${format} takes ${text}`)
    for (const [format, texts] of Object.entries(bad))
      for (const text of texts) assert(!takes(format, text), `${format} refuses ${text}`)
    assert(takes('hostname', 'anything'), 'a format that is not known asks for nothing')
  })

  it("checks a pattern, unless it's invalid or too slow", () => {
    const word = field({ type: 'text', pattern: '^[a-z]+$' })
    assert.equal(said(word, 'ab1'), "The value doesn't match the required format.")
    assert.equal(said(word, 'ab'), undefined)
    assert.equal(said(field({ type: 'text', pattern: '(' }), 'x'), undefined)
    assert.equal(matchesInTime('^[a-z]+$', 'ab1'), false)
    assert.equal(matchesInTime('(', 'x'), true)
    assert.equal(matchesInTime('^(a+)+$', `${'a'.repeat(60)}!`), true)
  })

  it('starts with the default if that is one of the choices', () => {
    const choices = [{ value: 'a', title: 'A' }]
    assert.equal(presetOf(field({ type: 'select', choices, default: 'z' })), undefined)
    assert.deepEqual(presetOf(field({ type: 'multi_select', choices, default: ['a', 'z', 'a'] })), ['a'])
    assert.equal(presetOf(field({ type: 'boolean', default: false })), false)
  })

  it('accepts keys with a special meaning in JavaScript', () => {
    const form = [field({ key: '__proto__', type: 'text', required: true })]
    const checked = checkContent(form, { ['__proto__']: 'x' }, matchesInTime)
    assert(checked.ok)
    assert.equal(JSON.stringify(checked.content), '{"__proto__":"x"}')
    assert.equal(
      checkContent([field({ key: 'toString', type: 'text', required: true })], {}, matchesInTime).ok,
      false,
    )
  })
})

// ---- against the real schema
// -----------------------------------------------------------------------------------------

const bounds = (least: string, most: string) =>
  fc
    .tuple(fc.option(fc.nat(4), { nil: undefined }), fc.option(fc.nat(4), { nil: undefined }))
    .map(([low, extra]) => ({
      ...(low !== undefined && { [least]: low }),
      ...(extra !== undefined && { [most]: (low ?? 0) + extra }),
    }))
const words = fc.uniqueArray(fc.constantFrom('red', 'green', 'blue', ''), { minLength: 1 })
const property = fc.oneof(
  fc
    .tuple(
      bounds('minLength', 'maxLength'),
      fc.option(fc.constantFrom('email', 'date', 'date-time'), { nil: undefined }),
      fc.option(fc.constantFrom('^a', '\\d', 'b$'), { nil: undefined }),
    )
    .map(([more, format, pattern]) => ({
      type: 'string',
      ...more,
      ...(format !== undefined && { format }),
      ...(pattern !== undefined && { pattern }),
    })),
  bounds('minimum', 'maximum').map(more => ({ type: 'number', ...more })),
  bounds('minimum', 'maximum').map(more => ({ type: 'integer', ...more })),
  fc.constant({ type: 'boolean' }),
  words.map(values => ({ type: 'string', enum: values })),
  words.map(values => ({ type: 'string', oneOf: values.map(value => ({ const: value, title: value })) })),
  fc.tuple(words, bounds('minItems', 'maxItems')).map(([values, more]) => ({
    type: 'array',
    uniqueItems: true,
    items: { type: 'string', enum: values },
    ...more,
  })),
  words.map(values => ({
    type: 'array',
    uniqueItems: true,
    items: { anyOf: values.map(value => ({ const: value, title: value })) },
  })),
)
const value = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 6 }),
  fc.constantFrom('ab', 'a1', 'a@b.c', '2024-02-29', '2024-02-30', '2024-02-29T10:00:00Z', 'red', ''),
  fc.integer({ min: -2, max: 9 }),
  fc.double({ min: -2, max: 9, noNaN: true }),
  fc.boolean(),
  fc.array(fc.constantFrom('red', 'green', 'blue', 'x')),
  fc.constant(null),
)
const keys = ['a', 'b', 'c']
const filling = fc.dictionary(fc.constantFrom(...keys, 'd'), value)
const schema = fc.record({
  type: fc.constant('object'),
  properties: fc.record({ a: property, b: property, c: property }, { requiredKeys: ['a'] }),
  required: fc.subarray(['a']),
})

/** The fields as the protocol layer reads them. */
async function fieldsOf(requestedSchema: object): Promise<ElicitationField[]> {
  let asked: ElicitationRequest | undefined
  const client = {
    createElicitation: async (request: ElicitationRequest) => {
      asked = request
      return { action: 'cancel' as const }
    },
  }
  const params = { mode: 'form', message: 'm', sessionId: 's', requestedSchema }
  await answerElicitation(
    client,
    params,
    new AbortController().signal,
    () => {},
    () => undefined,
  )
  assert(asked?.mode === 'form')
  return asked.fields
}

describe('the validation of a form, compared with a JSON schema validator', () => {
  const ajv = new Ajv({ strict: false })
  addFormats.default(ajv)

  it('accepts exactly what the schema accepts', async () => {
    let taken = 0
    await fc.assert(
      fc.asyncProperty(schema, fc.array(filling, { minLength: 1, maxLength: 12 }), async (form, fillings) => {
        const fields = await fieldsOf(form)
        const validate = ajv.compile(form)
        // unlike a form, the schema distinguishes empty text from none
        const properties = form.properties as Record<
          string,
          { type: string; enum?: unknown; oneOf?: unknown }
        >
        const chosen = (key: string) => properties[key]?.enum ?? properties[key]?.oneOf
        const blank = ([key, one]: [string, unknown]) =>
          one === null || (one === '' && properties[key]?.type === 'string' && !chosen(key))
        for (const values of fillings) {
          const checked = checkContent(fields, values, matchesInTime)
          if (checked.ok) {
            taken++
            const valid = validate(checked.content)
            assert(valid, `${JSON.stringify(checked.content)}: ${ajv.errorsText(validate.errors)}`)
          } else {
            const filled = Object.fromEntries(Object.entries(values).filter(entry => !blank(entry)))
            assert(
              !validate(filled),
              `refused ${JSON.stringify(filled)}: ${JSON.stringify(checked.problems)}`,
            )
          }
        }
      }),
    )
    assert(taken > 100, `only ${taken} forms were taken`)
  })
})

describe('a URL that an agent asks to open', () => {
  it('is shown in parts with a separate host', () => {
    assert.deepEqual(describeUrl('https://Example.com:8443/a?b#c'), {
      before: 'https://',
      host: 'example.com:8443',
      after: '/a?b#c',
      warnings: [],
      canOpen: true,
    })
  })

  it('has warnings if it is misleading', () => {
    const warnings = (url: string) => describeUrl(url)?.warnings
    assert.deepEqual(warnings('http://example.com'), ['http'])
    assert.deepEqual(warnings('http://localhost:1234/cb'), [])
    assert.deepEqual(warnings('http://127.0.0.1/'), [])
    assert.deepEqual(warnings('https://аррӏе.com'), ['punycode'])
    assert.deepEqual(warnings('https://xn--80ak6aa92e.com'), ['punycode'])
    assert.deepEqual(warnings('https://github.com@evil.example/login'), ['credentials'])
    assert.equal(describeUrl('https://github.com@evil.example/login')?.host, 'evil.example')
    assert.equal(describeUrl('https://evil.example@evil.example/')?.before, 'https://evil.example@')
  })

  it('opens only with http or https', () => {
    for (const url of [
      'file:///etc/passwd',
      'command:parley.x',
      'vscode://x/y',
      'javascript:alert(1)',
      'mailto:a@b',
    ])
      assert.equal(describeUrl(url)?.canOpen, false, url)
    assert.equal(describeUrl('no address'), undefined)
  })

  it('is shown completely', () => {
    fc.assert(
      fc.property(fc.webUrl({ withFragments: true, withQueryParameters: true }), url => {
        const reported = describeUrl(url)
        assert(reported)
        assert.equal(reported.before + reported.host + reported.after, new URL(url).href)
        assert.equal(reported.host, new URL(url).host)
      }),
    )
  })
})

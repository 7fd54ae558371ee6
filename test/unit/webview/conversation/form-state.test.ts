import assert from 'node:assert/strict'
import { isPlainMatch } from '../../../../src/webview/conversation/elicitation/form-state.ts'
import { cpuTime } from '../../../support/cpu-time.ts'

describe('isPlainMatch', () => {
  for (const pattern of [
    '^[a-z]+$',
    '^\\d{4}-\\d{2}-\\d{2}$',
    '^(dev|prod)$',
    '^[\\w.]+@[\\w.]+$',
    '^v?\\d+(?:rc)?$',
    '[)]+x',
  ])
    it(`accepts ${pattern}`, () => assert.equal(isPlainMatch(pattern, 'a'.repeat(200)), true))

  for (const pattern of ['(a+)+$', '(a|a)*$', '(?:a*){5}', 'a*a*a*$', '(a)\\1', '(?<n>a)\\k<n>', '([^)]+)+'])
    it(`leaves ${pattern} to the host`, () => assert.equal(isPlainMatch(pattern, 'a'), false))

  it('leaves long texts to the host', () => assert.equal(isPlainMatch('a', 'a'.repeat(201)), false))

  it('accepts only patterns that are fast', () => {
    const match = () => {
      for (const pattern of ['a*a*b', '[a-z]+[a-z]+\\d', '^.*.*$x'])
        assert.equal(
          isPlainMatch(pattern, 'a'.repeat(200)) && new RegExp(pattern).test('a'.repeat(200)),
          false,
        )
    }
    assert.ok(cpuTime(match) < 1000)
  })
})

import assert from 'node:assert/strict'
import { formatCost } from '../../../src/common/format-cost.ts'

describe('formatCost', () => {
  const texts = (...costs: Array<[number, string]>) =>
    costs.map(([amount, currency]) => formatCost({ amount, currency }, 'en-US'))

  it('shows small amounts with all digits, and others as money', () => {
    assert.deepEqual(
      texts([0, 'USD'], [0.0042, 'USD'], [0.017, 'USD'], [0.102, 'USD'], [0.935, 'USD'], [1234.5, 'EUR']),
      ['$0.00', '$0.0042', '$0.017', '$0.10', '$0.94', '€1,234.50'],
    )
  })

  it('shows unknown currencies after the amount, and makes hidden characters visible', () => {
    assert.deepEqual(texts([3, 'credits'], [0.0912, 'credits'], [12, 'a\u202eb']), [
      '3 credits',
      '0.0912 credits',
      '12 a‹U+202E›b',
    ])
  })
})

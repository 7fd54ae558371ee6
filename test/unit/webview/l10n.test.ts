import assert from 'node:assert/strict'
import { formatDuration, formatSeconds, plural, setBundle, t } from '../../../src/webview/l10n.ts'

describe('l10n', () => {
  afterEach(() => setBundle({}, 'en'))

  it('inserts arguments, and keeps other braces', () => {
    assert.equal(t('{1} of {0} {2}', 'a', 2), '2 of a {2}')
    assert.equal(t('{0}', '{1}'), '{1}')
  })

  it('uses the language of the bundle', () => {
    setBundle({ 'Thought for {0}': 'Überlegt seit {0}', '{0} s': '{0} Sek.' }, 'de')
    assert.equal(t('Thought for {0}', formatDuration(1234)), 'Überlegt seit 1,2 Sek.')
    assert.equal(plural(1, 'one', '{0} many'), 'one')
    assert.equal(plural(1200, 'one', '{0} many'), '1.200 many')
  })

  it('formats a duration', () => {
    assert.equal(formatDuration(400), '0.4 s')
    assert.equal(formatDuration(9960), '10 s')
    assert.equal(formatSeconds(185), '3 min 5 s')
    assert.equal(formatSeconds(3720), '1 h 2 min')
    assert.equal(formatSeconds(-3), '0 s')
  })
})

import { strict as assert } from 'node:assert'
import { optionHint, optionName, outcomeText } from '../../../src/conversation/requests/permission-text.ts'

const t = (message: string) => message
const hint = (name: string, kind: string) => optionHint({ optionId: 'o', name, kind }, t)

describe('the label of a permission option', () => {
  it('is its name, or a description of its kind', () => {
    assert.equal(optionName({ optionId: 'o', name: ' Yes ', kind: 'allow_once' }, t), 'Yes')
    assert.equal(optionName({ optionId: 'o', name: ' ', kind: 'reject_always' }, t), 'Always reject')
    assert.equal(optionName({ optionId: 'o', name: '', kind: 'later' }, t), 'later')
    assert.equal(
      optionName({ optionId: 'o', name: 'Re\u202eject', kind: 'reject_once' }, t),
      'Re‹U+202E›ject',
    )
  })

  it('describes its effect if the name is misleading or empty', () => {
    assert.equal(hint('Reject', 'allow_always'), 'Always allow')
    assert.equal(hint('Allow', 'reject_once'), 'Reject')
    assert.equal(hint('Allow', 'allow_always'), 'Always allow')
    assert.equal(hint('Allow always', 'allow_once'), 'Allow once')
    assert.equal(hint('Do not allow', 'allow_once'), 'Allow once')
    assert.equal(hint('Yes, no longer ask', 'reject_once'), 'Reject')
    assert.equal(hint('Maybe', 'allow_once'), 'Allow once')
    assert.equal(hint('允许', 'allow_always'), 'Always allow')
    assert.equal(hint('Whatever', 'later'), 'later')
  })

  it('describes its effect if the name begins like another one, or says how long it lasts in two ways', () => {
    for (const [name, kind, effect] of [
      ['No problem, run it', 'reject_once', 'Reject'],
      ["Don't stop", 'reject_once', 'Reject'],
      ['Proceed, no questions', 'reject_once', 'Reject'],
      ['Run it, cancel later', 'reject_once', 'Reject'],
      ['Confirm rejection', 'allow_once', 'Allow once'],
      ['Continue without running', 'allow_once', 'Allow once'],
      ['Yes, discard it', 'allow_once', 'Allow once'],
      ['Run nothing', 'allow_once', 'Allow once'],
      ['Allow in this project', 'allow_once', 'Allow once'],
      ["Yes, don't ask", 'allow_once', 'Allow once'],
      ['Accept all changes', 'allow_always', 'Always allow'],
      ['Allow once, for this session', 'allow_always', 'Always allow'],
      ['Accept denial from now on', 'allow_always', 'Always allow'],
      ['Just this time, never again', 'reject_always', 'Always reject'],
    ] as const) {
      assert.equal(hint(name, kind), effect, name)
    }
  })

  it('is the name if that describes the effect', () => {
    for (const [name, kind] of [
      ['Allow once', 'allow_once'],
      ['Yes, proceed', 'allow_once'],
      ['Run', 'allow_once'],
      ['Yes, and ask before each step', 'allow_once'],
      ['Always Allow', 'allow_always'],
      ['Yes, and don’t ask again for git commands', 'allow_always'],
      ['Yes, allow all edits during this session', 'allow_always'],
      ['Reject', 'reject_once'],
      ['No, and tell Claude what to do differently', 'reject_once'],
      ['Never', 'reject_always'],
      ['Reject all commands in this session', 'reject_always'],
    ]) {
      assert.equal(hint(name!, kind!), undefined, name)
    }
  })

  it('is in the past tense after it was selected', () => {
    assert.equal(outcomeText('allow_once', t), 'Allowed once')
    assert.equal(outcomeText('reject_once', t), 'Rejected')
    assert.equal(outcomeText('later', t), 'Answered')
  })
})

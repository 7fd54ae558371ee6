import assert from 'node:assert/strict'
import { reportFocus } from '../../../../src/webview/host/keyboard.ts'

describe('reportFocus', () => {
  let hasFocus = false
  let target: EventTarget
  const sent: unknown[] = []
  const look = () => reportFocus({ send: (_name, ...params) => void sent.push(...params) })
  const fire = (...types: string[]) => {
    for (const type of types) target.dispatchEvent(new Event(type))
  }

  beforeEach(() => {
    sent.length = 0
    hasFocus = false
    target = new EventTarget()
    Object.assign(globalThis, { window: target, document: { hasFocus: () => hasFocus } })
  })
  after(() => {
    for (const name of ['window', 'document']) Reflect.deleteProperty(globalThis, name)
  })

  it('reports the focus once', () => {
    const again = look()
    hasFocus = true
    for (let i = 0; i < 3; i++) again()
    fire('focus')
    assert.deepEqual(sent, [{ focused: true }])
    fire('blur', 'blur')
    hasFocus = false
    again()
    assert.deepEqual(sent, [{ focused: true }, { focused: false }])
  })

  it('reports once that the user acts in the page while it has the focus', () => {
    look()
    fire('focus', 'keydown', 'keydown', 'pointerdown')
    assert.deepEqual(sent, [{ focused: true }, { focused: true, isUsed: true }])
    fire('blur', 'pointerdown')
    assert.deepEqual(sent.slice(2), [{ focused: false }, { focused: true, isUsed: true }])
  })

  for (const type of ['click', 'input', 'drop'])
    it(`treats ${type} as an action of the user, since it can happen without a key or a pointer`, () => {
      look()
      fire(type)
      assert.deepEqual(sent, [{ focused: true, isUsed: true }])
    })
})

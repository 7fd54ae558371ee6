import assert from 'node:assert/strict'
import { primaryOption } from '../../../../src/webview/conversation/entries/permission.tsx'

describe('the default option of a permission request', () => {
  it('allows once, and never permanently', () => {
    const option = (kind: string) => ({ optionId: kind, name: kind, kind })
    assert.equal(primaryOption([option('allow_always'), option('allow_once')])?.kind, 'allow_once')
    assert.equal(primaryOption([option('allow_always'), option('reject_once')]), undefined)
  })
})

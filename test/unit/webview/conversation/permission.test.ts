import assert from 'node:assert/strict'
import type { PermissionOption } from '../../../../src/acp/model.ts'
import { primaryOption } from '../../../../src/webview/conversation/entries/permission.tsx'

describe('the default option of a permission request', () => {
  const primary = (kinds: Array<PermissionOption['kind']>, isChoice?: true) =>
    primaryOption({ options: kinds.map(kind => ({ optionId: kind, name: kind, kind })), isChoice })?.kind

  it('allows once, and never permanently', () => {
    assert.equal(primary(['allow_always', 'allow_once']), 'allow_once')
    assert.equal(primary(['allow_always', 'reject_once']), undefined)
  })

  it("doesn't exist in a choice", () => {
    assert.equal(primary(['allow_once', 'reject_once'], true), undefined)
  })
})

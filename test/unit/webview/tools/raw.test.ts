import assert from 'node:assert/strict'
import { rawText } from '../../../../src/webview/tools/raw.ts'

describe('raw output', () => {
  it('is read from every shape that agents give it', () => {
    assert.equal(rawText('plain'), 'plain')
    assert.equal(rawText({ stdout: 'out', exitCode: 0 }), 'out')
    assert.equal(rawText({ output: 'out', stderr: 'err' }), 'out\nerr')
    assert.equal(rawText([{ type: 'text', text: 'one' }, 'two']), 'one\ntwo')
    assert.equal(rawText([...new TextEncoder().encode('bytes ✓ of text')]), 'bytes ✓ of text')
    assert.equal(rawText({ files: ['a'] }), '{\n  "files": [\n    "a"\n  ]\n}')
    assert.equal(rawText([1, 2]), '[\n  1,\n  2\n]')
    assert.equal(rawText(3), '3')
  })

  it('is nothing when there is nothing', () => {
    assert.equal(rawText(undefined), undefined)
    assert.equal(rawText(null), undefined)
    assert.equal(rawText(''), undefined)
  })
})

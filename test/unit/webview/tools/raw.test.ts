import assert from 'node:assert/strict'
import { rawCode, rawText } from '../../../../src/webview/tools/raw.ts'

describe('raw input', () => {
  it('shows a patch as its lines (quirk 26)', () => {
    const patch = '*** Begin Patch\n*** Update File: a.ts\n@@\n-one\n+two\n*** End Patch'
    assert.deepEqual(rawCode(patch), { text: patch, language: 'diff' })
    assert.deepEqual(rawCode({ input: patch }), { text: patch, language: 'diff' })
    assert.deepEqual(rawCode({ patch, note: 'x' }), {
      text: `{\n  "note": "x"\n}\n${patch}`,
      language: 'diff',
    })
    assert.deepEqual(rawCode(JSON.stringify({ input: patch })), { text: patch, language: 'diff' })
    const unified = '--- a/x\n+++ b/x\n@@ -1 +1 @@\n-one\n+two\n'
    assert.equal(rawCode({ diff: unified }).text, unified)
  })

  it('shows everything else unchanged or as JSON', () => {
    assert.deepEqual(rawCode('plain'), { text: 'plain', language: '' })
    assert.deepEqual(rawCode('{"a":1}'), { text: '{\n  "a": 1\n}', language: 'json' })
    assert.deepEqual(rawCode({ input: 'x' }), { text: '{\n  "input": "x"\n}', language: 'json' })
    assert.deepEqual(rawCode('{broken'), { text: '{broken', language: '' })
  })
})

describe('raw output', () => {
  it('is read from every format of agents', () => {
    assert.equal(rawText('plain'), 'plain')
    assert.equal(rawText({ stdout: 'out', exitCode: 0 }), 'out')
    assert.equal(rawText({ output: 'out', stderr: 'err' }), 'out\nerr')
    assert.equal(rawText([{ type: 'text', text: 'one' }, 'two']), 'one\ntwo')
    assert.equal(rawText([...new TextEncoder().encode('bytes ✓ of text')]), 'bytes ✓ of text')
    assert.equal(rawText({ files: ['a'] }), '{\n  "files": [\n    "a"\n  ]\n}')
    assert.equal(rawText([1, 2]), '[\n  1,\n  2\n]')
    assert.equal(rawText(3), '3')
  })

  it('is undefined if there is none', () => {
    assert.equal(rawText(undefined), undefined)
    assert.equal(rawText(null), undefined)
    assert.equal(rawText(''), undefined)
  })
})

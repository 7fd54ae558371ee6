import assert from 'node:assert/strict'
import * as esbuild from 'esbuild'
import { JSDOM } from 'jsdom'
import type { h, render } from 'preact'
import type { JsonTree } from '../../../../src/webview/inspector/json-tree.tsx'
import { waitFor } from '../../../host/wait-for.ts'

interface Bundle {
  h: typeof h
  render: typeof render
  JsonTree: typeof JsonTree
}

describe('a message as a tree', () => {
  let script: string

  before(async () => {
    const contents = `
      export { h, render } from 'preact'
      export { JsonTree } from './src/webview/inspector/json-tree.tsx'`
    const { outputFiles } = await esbuild.build({
      stdin: { contents, resolveDir: '.' },
      bundle: true,
      write: false,
      format: 'iife',
      globalName: 'parts',
      jsx: 'automatic',
      jsxImportSource: 'preact',
    })
    script = `window.CSS = { escape: text => text.replace(/["\\\\]/g, '\\\\$&') };${outputFiles[0]!.text};window.parts = parts`
  })

  function show(message: unknown) {
    const { window } = new JSDOM('<div id="root"></div>', {
      runScripts: 'outside-only',
      pretendToBeVisual: true,
    })
    window.eval(script)
    const { document } = window
    const { h, render, JsonTree } = window.parts as Bundle
    render(h(JsonTree, { json: JSON.stringify(message) }), document.querySelector('#root')!)
    const rows = () => [...document.querySelectorAll<HTMLElement>('[role=treeitem]')]
    const press = (key: string) =>
      document.activeElement!.dispatchEvent(new window.KeyboardEvent('keydown', { key, bubbles: true }))
    const focused = (text: RegExp) =>
      waitFor(`the focus at ${text}`, () => text.test(document.activeElement?.textContent ?? ''))
    return { rows, press, focused }
  }

  it('keeps the focus when further members are shown, of which the first has it', async () => {
    const { rows, press, focused } = show(
      Object.fromEntries(Array.from({ length: 150 }, (_, i) => [`n${i}`, i])),
    )
    rows()[0]!.focus()
    press('Enter')
    await waitFor('members', () => rows().length === 102)
    press('End')
    await focused(/more \(50\)/)
    press('Enter')
    await focused(/^n100: 100$/)
    assert.equal(rows().length, 151)
    press('ArrowDown')
    await focused(/^n101: 101$/)
  })

  it('tells a member without a name from the note that there are more', async () => {
    const { rows, press, focused } = show(
      Object.fromEntries([['', 'unnamed'], ...Array.from({ length: 150 }, (_, i) => [`n${i}`, i])]),
    )
    rows()[0]!.focus()
    press('Enter')
    await waitFor('members', () => rows().length === 102)
    press('ArrowDown')
    await focused(/unnamed/)
    assert.equal(new Set(rows().map(({ dataset }) => dataset.path)).size, 102)
  })
})

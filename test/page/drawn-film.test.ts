import assert from 'node:assert/strict'
import { DrawnFilm } from '../screenshots/drawn-film.ts'
import { PageSuite } from '../support/page/page-suite.ts'

describe('a drawn film', () => {
  const vscode = new PageSuite()

  it('has the texts, boxes and icons that each look at a page shows, in order, and stands still if asked to', async () => {
    const page = await (await vscode.sharedWindow()).page.context().newPage()
    const film = new DrawnFilm({ width: 200, height: 100 }, '#181818')
    await page.setContent(`
      <style>.codicon-add::before { content: "+"; color: red }</style>
      <div style="width: 80px; border: 1px solid lime; font: 13px sans-serif">
        <nobr style="display: block; overflow: hidden">A text &amp; more that is too long</nobr>
        <span class="codicon codicon-add"></span>
        <p style="display: none">Not shown</p>
      </div>`)
    await film.show(page.mainFrame(), 1000)
    await page.setContent('<p style="font-weight: bold; color: rgb(255 0 0 / 50%)">Then &lt;this&gt;</p>')
    await film.show(page.mainFrame(), 3000, { isStill: true })
    const drawing = film.draw('Two looks')
    const other = new DrawnFilm({ width: 200, height: 100 }, '#181818')
    await page.setContent(`
      <p>Around it</p>
      <div id="part" style="position: absolute; left: 40px; top: 30px; width: 90px; height: 50px"><nobr>A part</nobr></div>
      <div class="above" style="position: absolute; left: 45px; top: 60px"><nobr>Above</nobr></div>`)
    await other.show(page.mainFrame(), 1000, { part: '#part, .above' })
    const part = other.draw('A part')
    assert.match(part, /<text x="0" [^>]*>A part</)
    assert.match(part, /<text x="5" [^>]*>Above</)
    assert.doesNotMatch(part, /Around it/)
    const [, first = '', second = ''] = drawing.split('<g class="p')
    assert.match(first, /<text[^>]*>A text &amp; [^<]*…<\/text>/)
    assert.match(first, /<use href="#/)
    assert.match(drawing, /stroke:#00ff00/)
    assert.match(drawing, /fill:#ff000080;font-size:16px;font-weight:600/)
    assert.match(second, />Then &lt;this><\/text>/)
    assert.doesNotMatch(drawing, /Not shown/)
    assert.match(drawing, /@keyframes p1\{0%\{visibility:hidden\}25\.0%\{visibility:visible\}/)
    assert.match(drawing, /prefers-reduced-motion\)\{\.p\{animation:none\}\.p1\{visibility:visible\}/)
    await page.close()
  })
})

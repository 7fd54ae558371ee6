import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { contributionFiles } from '../../contributions/contribution-files.ts'

describe('package.json and its texts', () => {
  it('are what src/contributions says; if not, run `npm run contributions`', () => {
    for (const { file, content } of contributionFiles())
      assert.equal(readFileSync(file, 'utf8'), content, `${file}: npm run contributions`)
  })
})

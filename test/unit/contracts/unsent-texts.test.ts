import type { UnsentTexts } from '../../../src/history/unsent-texts.ts'
import { unsentTextsContract } from '../../support/contracts/unsent-texts.ts'
import { MemoryUnsentTexts, UnsentTable } from '../../support/memory-unsent-texts.ts'

// Those in the database are tested with the same contract in `test/unit/history/unsent-texts.test.ts`.
describe('the in-memory unsent texts', () => {
  unsentTextsContract(() => {
    const table = new UnsentTable()
    const running = new Map<UnsentTexts, string>()
    let count = 0
    return {
      open(workspace = 'one') {
        const own = `w${++count}`
        const texts = new MemoryUnsentTexts(table, {
          own,
          workspace,
          isListed: id => [...running.values()].includes(id),
        })
        running.set(texts, own)
        return texts
      },
      kill: window => void running.delete(window),
    }
  })
})

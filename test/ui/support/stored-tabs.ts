import type { Page } from 'playwright-core'
import { waitFor } from '../../host/wait-for.ts'

/**
 * Resolves when the stored editor tabs, which a reload restores, contain all of these texts. The browser stores the tabs in
 * its database a moment after they changed.
 */
export async function waitForStoredTabs(page: Page, ...texts: string[]): Promise<void> {
  await waitFor(`stored tabs with ${texts.join(', ')}`, async () => {
    const stored = await page.evaluate<string>(read)
    return texts.every(text => stored.includes(text))
  })
}

/** Runs in the page. */
const read = `(async () => {
  const ask = request => new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error)
  })
  const found = []
  for (const { name } of await indexedDB.databases()) {
    if (!name?.startsWith('vscode-web-state-db-')) continue
    const database = await ask(indexedDB.open(name))
    try {
      const store = database.transaction('ItemTable').objectStore('ItemTable')
      found.push(await ask(store.get('memento/workbench.parts.editor')))
    } finally {
      database.close()
    }
  }
  return found.join()
})()`

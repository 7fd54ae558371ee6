import type { Page } from 'playwright-core'
import { waitFor } from '../../host/wait-for.ts'

/**
 * Resolves when the stored editor tabs, which a reload restores, contain all of these texts. The browser stores the tabs in
 * its database a moment after they changed.
 */
export async function waitForStoredTabs(page: Page, ...texts: string[]): Promise<void> {
  await waitForStored(page, 'memento/workbench.parts.editor', texts)
}

/** Resolves when a reload restores the view container with this id in the side bar. */
export async function waitForStoredContainer(page: Page, id: string): Promise<void> {
  await waitForStored(page, 'workbench.sidebar.activeviewletid', [id])
}

async function waitForStored(page: Page, key: string, texts: readonly string[]): Promise<void> {
  await waitFor(`${key} stored with ${texts.join(', ')}`, async () => {
    const stored = await page.evaluate<string>(read(key))
    return texts.every(text => stored.includes(text))
  })
}

/** Runs in the page. */
const read = (key: string) => `(async () => {
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
      found.push(await ask(store.get('${key}')))
    } finally {
      database.close()
    }
  }
  return found.join()
})()`

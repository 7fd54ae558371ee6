import type { Frame } from 'playwright-core'

/** Code for the page is in strings, since the tests are compiled without browser types. */
const composer = `document.querySelector('.composer [role="textbox"]')`

/** Pastes text into the composer, like the browser. */
export async function pasteText(frame: Frame, text: string): Promise<void> {
  await frame.evaluate(`{
    const data = new DataTransfer()
    data.setData('text/plain', ${JSON.stringify(text)})
    ${composer}.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }))
  }`)
}

/** Pastes an image of this size in pixels. */
export async function pasteImage(frame: Frame, width: number, height: number): Promise<void> {
  await frame.evaluate(`(async () => {
    const canvas = new OffscreenCanvas(${width}, ${height})
    const context = canvas.getContext('2d')
    context.fillStyle = 'teal'
    context.fillRect(0, 0, ${width} / 2, ${height})
    const blob = await canvas.convertToBlob({ type: 'image/png' })
    const data = new DataTransfer()
    data.items.add(new File([blob], 'image.png', { type: 'image/png' }))
    ${composer}.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }))
  })()`)
}

/** Drops a file onto the composer, like VS Code's explorer. */
export async function dropFile(frame: Frame, uri: string): Promise<void> {
  await frame.evaluate(`{
    const data = new DataTransfer()
    data.setData('text/uri-list', ${JSON.stringify(uri)})
    const options = { dataTransfer: data, bubbles: true, cancelable: true }
    for (const type of ['dragover', 'drop']) ${composer}.dispatchEvent(new DragEvent(type, options))
  }`)
}

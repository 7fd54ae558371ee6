import { pathToFileURL } from 'node:url'
import type { Turn } from '../turn.ts'
import { shortName, subjectFile } from '../workspace.ts'

/** `/media`: shows content other than text. */
export async function media(turn: Turn): Promise<void> {
  await turn.say('An image:\n\n')
  await turn.show({ type: 'image', mimeType: 'image/png', data: GRADIENT })
  await turn.say('A sound, half a second long:\n\n')
  await turn.show({ type: 'audio', mimeType: 'audio/wav', data: toneWav(440, 0.5).toString('base64') })
  const file = await subjectFile(turn, '')
  if (file) {
    await turn.say('A link to a file:\n\n')
    const name = shortName(turn, file)
    await turn.show({ type: 'resource_link', uri: pathToFileURL(file).href, name, title: name })
  }
  await turn.say('And an embedded resource:\n\n')
  await turn.show({
    type: 'resource',
    resource: {
      uri: 'demo://note.md',
      mimeType: 'text/markdown',
      text: 'A note that came **inside** the message.',
    },
  })
}

/** A gradient as a PNG image of 240 by 120 pixels, in base64. */
const GRADIENT =
  'iVBORw0KGgoAAAANSUhEUgAAAPAAAAB4CAIAAABD1OhwAAAA/klEQVR42u3SAQ0AMAzDsG5ozh/FYY1HZckIokzenwQ6rAY0MT' +
  'SGBkODocHQGBoMDYYGQ4OhMTQYGgwNhgZDY2gwNBgaDA2GxtBgaDA0GBoMjaHB0GBoMDQYGkODocHQYGgwNIYGQ4OhwdAYWgUM' +
  'DYYGQ4OhMTQYGgwNhgZDY2gwNBgaDA2GxtBgaDA0GBoMjaHB0GBoMDQYGkODocHQYGgwNIYGQ4OhwdBgaAwNhgZDg6ExNBgaDA' +
  '2GBkNjaDA0GBoMDYbG0GBoMDQYGgyNocHQYGgwNBgaQ4OhwdBgaDA0hgZDg6HB0GBoDA2GBkODoTG0ChgaDA2GBkNjaGhwdwdy' +
  'X3DkfHcAAAAASUVORK5CYII='

/** Returns a sine tone as WAV: mono, 8 bits, 8 kHz. */
function toneWav(hertz: number, seconds: number): Buffer {
  const rate = 8000
  const samples = rate * seconds
  const format = '\x10\0\0\0\x01\0\x01\0\x40\x1f\0\0\x40\x1f\0\0\x01\0\x08\0'
  const header = Buffer.from(`RIFF....WAVEfmt ${format}data....`, 'latin1')
  header.writeUInt32LE(36 + samples, 4)
  header.writeUInt32LE(samples, 40)
  const tone = Uint8Array.from({ length: samples }, (_, index) => {
    const fade = Math.min(1, (samples - index) / 800, index / 800)
    return 128 + Math.sin((2 * Math.PI * hertz * index) / rate) * 32 * fade
  })
  return Buffer.concat([header, tone])
}

import { pathToFileURL } from 'node:url'
import zlib from 'node:zlib'
import type { Turn } from '../turn.ts'
import { shortName, subjectFile } from '../workspace.ts'

/** `/media`: content other than text. */
export async function media(turn: Turn): Promise<void> {
  await turn.say('An image:\n\n')
  await turn.show({ type: 'image', mimeType: 'image/png', data: gradientPng(240, 120).toString('base64') })
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

/** A PNG image, 8-bit RGB, generated here so that no file has to be shipped. */
export function gradientPng(width: number, height: number): Buffer {
  const rows = Buffer.alloc((width * 3 + 1) * height)
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const at = y * (width * 3 + 1) + 1 + x * 3
      rows[at] = Math.round((x / width) * 255)
      rows[at + 1] = Math.round((y / height) * 200)
      rows[at + 2] = 200
    }
  }
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([8, 2, 0, 0, 0], 8)
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    pngChunk('IHDR', header),
    pngChunk('IDAT', zlib.deflateSync(rows)),
    pngChunk('IEND', Buffer.alloc(0)),
  ])
}

function pngChunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const length = Buffer.alloc(4)
  length.writeUInt32BE(data.length)
  const checksum = Buffer.alloc(4)
  checksum.writeUInt32BE(zlib.crc32(body))
  return Buffer.concat([length, body, checksum])
}

/** A sine tone as WAV: mono, 16 bits, 8 kHz. */
export function toneWav(hertz: number, seconds: number): Buffer {
  const rate = 8000
  const samples = Math.floor(rate * seconds)
  const wav = Buffer.alloc(44 + samples * 2)
  wav.write('RIFF', 0, 'latin1')
  wav.writeUInt32LE(36 + samples * 2, 4)
  wav.write('WAVEfmt ', 8, 'latin1')
  wav.writeUInt32LE(16, 16)
  wav.writeUInt16LE(1, 20)
  wav.writeUInt16LE(1, 22)
  wav.writeUInt32LE(rate, 24)
  wav.writeUInt32LE(rate * 2, 28)
  wav.writeUInt16LE(2, 32)
  wav.writeUInt16LE(16, 34)
  wav.write('data', 36, 'latin1')
  wav.writeUInt32LE(samples * 2, 40)
  for (let index = 0; index < samples; index++) {
    const fade = Math.min(1, (samples - index) / 800, index / 800)
    wav.writeInt16LE(Math.round(Math.sin((2 * Math.PI * hertz * index) / rate) * 8000 * fade), 44 + index * 2)
  }
  return wav
}

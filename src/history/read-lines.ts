import { createReadStream } from 'node:fs'

/**
 * The lines of a text file, without their ends, however large the file is. `undefined` stands for a line of more than `max`
 * characters. Rejects if the file can't be read or the signal aborts.
 */
export async function* readLines(
  file: string,
  max: number,
  signal?: AbortSignal,
): AsyncGenerator<string | undefined> {
  let rest = ''
  let isTooLong = false
  let isFirst = true
  const stream = createReadStream(file, {
    encoding: 'utf8',
    highWaterMark: 1 << 20,
    ...(signal && { signal }),
  })
  for await (const chunk of stream) {
    // a byte order mark
    const text = isFirst ? String(chunk).replace(/^\ufeff/, '') : String(chunk)
    isFirst = false
    let from = 0
    for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', from)) {
      const line = rest + text.slice(from, at)
      yield isTooLong || line.length > max ? undefined : line
      rest = ''
      isTooLong = false
      from = at + 1
    }
    if (!isTooLong) rest += text.slice(from)
    if (rest.length <= max) continue
    isTooLong = true
    rest = ''
  }
  if (isTooLong) yield undefined
  else if (rest !== '') yield rest
}

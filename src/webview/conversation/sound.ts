/** The tones of a sound in hertz, in order. */
const TONES = { done: [523.25, 783.99], waiting: [659.25, 659.25] }
/** Duration of a tone in seconds. */
const TONE = 0.14
/** Share of the full volume. */
const VOLUME = 0.12
/** How long to wait for the browser to allow the sound. Milliseconds. */
const ALLOWED_MS = 500
/** Pause after the last tone, so that it isn't cut. Milliseconds. */
const REST_MS = 1000

let audio: AudioContext | undefined
let resting: ReturnType<typeof setTimeout> | undefined

/** Plays a short sound. Browsers allow sounds once the user has used the page; before that, this is silent. */
export async function playSound(kind: keyof typeof TONES): Promise<void> {
  audio ??= new AudioContext()
  const { destination } = audio
  clearTimeout(resting)
  await Promise.race([audio.resume(), new Promise(resolve => setTimeout(resolve, ALLOWED_MS))])
  if (audio.state !== 'running') {
    // otherwise, the sound would play at the user's next click, too late
    await audio.suspend()
    return
  }
  const gain = audio.createGain()
  gain.connect(destination)
  const start = audio.currentTime + 0.02
  for (const [at, frequency] of TONES[kind].entries()) {
    const tone = audio.createOscillator()
    tone.frequency.value = frequency
    tone.connect(gain)
    const from = start + at * TONE
    // a soft beginning and end, without clicks
    gain.gain.setValueAtTime(0, from)
    gain.gain.linearRampToValueAtTime(VOLUME, from + 0.02)
    gain.gain.linearRampToValueAtTime(0, from + TONE)
    tone.start(from)
    tone.stop(from + TONE)
  }
  // a running audio context uses power even when it plays nothing
  resting = setTimeout(() => void audio?.suspend(), REST_MS)
}

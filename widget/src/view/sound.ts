/** Two soft notes. */
const NOTES = [660, 880];
const SECONDS = 0.16;
const LOUDNESS = 0.05;

let context: AudioContext | undefined;

/** Sounds for a reply that has arrived. A browser may stay silent until the visitor has used the page. */
export async function playReplySound(): Promise<void> {
  context ??= new AudioContext();
  if (context.state === 'suspended') await context.resume();
  for (const [index, pitch] of NOTES.entries()) {
    const start = context.currentTime + index * SECONDS;
    const tone = new OscillatorNode(context, { frequency: pitch });
    const volume = new GainNode(context, { gain: 0 });
    // A sudden start or end would click.
    volume.gain.setValueAtTime(0, start);
    volume.gain.linearRampToValueAtTime(LOUDNESS, start + 0.02);
    volume.gain.linearRampToValueAtTime(0, start + SECONDS);
    tone.connect(volume).connect(context.destination);
    tone.start(start);
    tone.stop(start + SECONDS);
  }
}

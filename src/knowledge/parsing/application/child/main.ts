/**
 * The program of a parser process: reads documents from its standard input and answers on its standard output, one after
 * the other, until its input ends. It imports nothing of the service but this folder's neighbours.
 */
import { serve } from './serve.js';

await serve(process.stdin, process.stdout);

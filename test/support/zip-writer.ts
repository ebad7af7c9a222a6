import { crc32, deflateRawSync } from 'node:zlib';

export interface Member {
  readonly name: string;
  readonly content: string | Buffer;
  /** Flags of the header; bit 0 marks the member as encrypted. */
  readonly flags?: number;
}

/** The bytes of a text; a buffer is not copied, since some are hundreds of megabytes. */
export function bytesOf(content: string | Buffer): Buffer {
  return typeof content === 'string' ? Buffer.from(content) : content;
}

/** A zip archive of these members. */
export function zipOf(members: readonly Member[]): Buffer {
  const locals: Buffer[] = [];
  const central: Buffer[] = [];
  let offset = 0;
  for (const { name, content, flags = 0 } of members) {
    const bytes = bytesOf(content);
    const packed = deflateRawSync(bytes);
    const fields = Buffer.alloc(26);
    fields.writeUInt16LE(20, 0);
    fields.writeUInt16LE(flags | 0x800, 2);
    fields.writeUInt16LE(8, 4);
    fields.writeUInt32LE(crc32(bytes), 10);
    fields.writeUInt32LE(packed.length, 14);
    fields.writeUInt32LE(bytes.length, 18);
    fields.writeUInt16LE(Buffer.byteLength(name), 22);
    const local = Buffer.concat([Buffer.from('PK\x03\x04', 'latin1'), fields, Buffer.from(name), packed]);
    const tail = Buffer.alloc(14);
    tail.writeUInt32LE(offset, 10);
    central.push(Buffer.concat([Buffer.from('PK\x01\x02\x14\x00', 'latin1'), fields, tail, Buffer.from(name)]));
    locals.push(local);
    offset += local.length;
  }
  const directory = Buffer.concat(central);
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 0, 'latin1');
  end.writeUInt16LE(members.length, 8);
  end.writeUInt16LE(members.length, 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...locals, directory, end]);
}

/** A copy of the archive whose directory declares another size of a member. */
export function withWrongSize(zip: Buffer, member: string, size: number): Buffer {
  const changed = Buffer.from(zip);
  changed.writeUInt32LE(size, changed.lastIndexOf(member) - 46 + 24);
  return changed;
}

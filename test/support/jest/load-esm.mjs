// Loaded first: CommonJS packages that require these ESM packages would otherwise meet them half
// evaluated ("Cannot require() ES Module in a cycle").
import 'reflect-metadata';
import '@nestjs/common';
import '@nestjs/core';

"""Compiled functions as users call them: conversion, fixed arguments, sparse data, parts computed ahead."""
